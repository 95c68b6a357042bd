/** Reproducible bytes, alternately like text and like noise. */
export function sample(length: number, seed: number): Buffer {
  const words = "function return const await {}();\n ";
  const bytes = Buffer.alloc(length);
  let state = (seed * 2654435761) >>> 0 || 1;
  for (let index = 0; index < length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const noisy = (index >> 12) % 5 === seed % 5;
    bytes[index] = noisy ? state & 255 : words.charCodeAt((state >>> 3) % words.length);
  }
  return bytes;
}
