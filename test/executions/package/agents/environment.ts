/** Returns its whole environment. */
export default function environment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
