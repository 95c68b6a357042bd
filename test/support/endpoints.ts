/**
 * What the test files of one run share: PostgreSQL, S3, the packed package and the bundled server. Test files run in several
 * processes, and ask the process of the run over a loopback port.
 */
export const addressVariable = "TEST_ENDPOINTS_ADDRESS";

export type Endpoint = "postgres" | "s3" | "package" | "launcher";

/** The answer of the global setup, which starts or builds it when a test first asks for it. @throws Error when it cannot */
export async function askEndpoint(name: Endpoint): Promise<string> {
  const address = process.env[addressVariable];
  if (address === undefined) throw new Error("The global setup of the suite has not run.");
  const response = await fetch(`${address}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
