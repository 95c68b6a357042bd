/** Writes bits from the lowest up, as deflate packs them into bytes (RFC 1951, 3.1.1). */
export class BitWriter {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whole bytes written. */
  length = 0;
  /** Bits that do not fill two bytes yet, and how many: less than 16. Public for the one loop that keeps them apart. */
  pending = 0;
  pendingBits = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** At most 16 bits; the higher ones of `value` must be 0. */
  write(value: number, count: number): void {
    this.pending |= value << this.pendingBits;
    this.pendingBits += count;
    if (this.pendingBits < 16) return;
    this.bytes[this.length] = this.pending;
    this.bytes[this.length + 1] = this.pending >>> 8;
    this.length += 2;
    this.pending >>>= 16;
    this.pendingBits -= 16;
  }

  /** Fills the last byte with zeros. */
  align(): void {
    for (; this.pendingBits > 0; this.pendingBits -= 8) {
      this.bytes[this.length++] = this.pending;
      this.pending >>>= 8;
    }
    this.pending = 0;
    this.pendingBits = 0;
  }

  /** A block that holds bytes as they are (RFC 1951, 3.2.4), at most 65,535 of them. Ends at a byte. */
  writeStored(bytes: Uint8Array, final: boolean): void {
    this.write(final ? 1 : 0, 3);
    this.align();
    const header = [bytes.length, bytes.length >> 8, ~bytes.length, ~bytes.length >> 8];
    this.bytes.set(header, this.length);
    this.bytes.set(bytes, this.length + 4);
    this.length += 4 + bytes.length;
  }

  /** What was written, whole bytes alone. */
  result(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }
}
