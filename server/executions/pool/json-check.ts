/** Whether a text is JSON (RFC 8259), told in pieces, so that a large one does not hold up the event loop. */

// What may come next.
const value = 0;
const valueOrEnd = 1;
const keyOrEnd = 2;
const key = 3;
const colon = 4;
const commaOrEnd = 5;
// Within a token.
const string = 6;
const escaped = 7;
const hex = 8;
const literal = 9;
const minus = 10;
const zero = 11;
const integer = 12;
const point = 13;
const fraction = 14;
const exponent = 15;
const exponentSign = 16;
const exponentDigits = 17;
// The end of the text is where one is needed.
const done = 18;

/** What ends the plain characters of a string: the quote, a backslash, and what JSON allows only escaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const endOfPlain = /["\\\u0000-\u001f]/g;

const literals: ReadonlyMap<number, string> = new Map([
  [0x74, "true"],
  [0x66, "false"],
  [0x6e, "null"],
]);

/** States: as the constants above say; *failed* once what came is no JSON, whatever follows. */
export class JsonChecker {
  readonly #maxDepth: number;
  /** For each open array or object, whether it is an object. */
  readonly #open: boolean[] = [];
  #state: number = value;
  #failed = false;
  /** Whether the string that is being read is a key. */
  #isKey = false;
  #hexDigits = 0;
  #literal = "";
  #literalAt = 0;

  /** @param maxDepth - of arrays and objects within each other */
  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** Takes the next piece; false when what came so far begins no JSON text. */
  feed(piece: string): boolean {
    for (let i = 0; i < piece.length && !this.#failed; i++) {
      if (this.#state === string) {
        // Most of a text is inside of strings, which a regular expression passes twice as fast as this loop.
        endOfPlain.lastIndex = i;
        const end = endOfPlain.exec(piece);
        if (end === null) return true;
        i = end.index;
      }
      if (!this.#take(piece.charCodeAt(i))) this.#failed = true;
    }
    return !this.#failed;
  }

  /** Whether what came is a whole JSON text. */
  end(): boolean {
    if (!this.#failed && this.#open.length === 0 && this.#numberMayEnd()) this.#state = done;
    return !this.#failed && this.#state === done;
  }

  #take(code: number): boolean {
    switch (this.#state) {
      case string:
        if (code === 0x5c) return this.#to(escaped);
        if (code !== 0x22) return false;
        return this.#isKey ? this.#to(colon) : this.#valueEnded();
      case escaped:
        if (code === 0x75) {
          this.#hexDigits = 0;
          return this.#to(hex);
        }
        return isSimpleEscape(code) && this.#to(string);
      case hex:
        if (!isHex(code)) return false;
        return ++this.#hexDigits < 4 || this.#to(string);
      case literal:
        if (this.#literal.charCodeAt(this.#literalAt++) !== code) return false;
        return this.#literalAt < this.#literal.length || this.#valueEnded();
      case minus:
        if (code === 0x30) return this.#to(zero);
        return isDigit(code) && this.#to(integer);
      case point:
        return isDigit(code) && this.#to(fraction);
      case exponent:
        if (code === 0x2b || code === 0x2d) return this.#to(exponentSign);
        return isDigit(code) && this.#to(exponentDigits);
      case exponentSign:
        return isDigit(code) && this.#to(exponentDigits);
      case zero:
      case integer:
      case fraction:
      case exponentDigits:
        return this.#inNumber(code);
      default:
        return isSpace(code) || this.#between(code);
    }
  }

  #inNumber(code: number): boolean {
    if (isDigit(code)) return this.#state !== zero;
    if (code === 0x2e && (this.#state === zero || this.#state === integer)) return this.#to(point);
    if ((code === 0x65 || code === 0x45) && this.#state !== exponentDigits) return this.#to(exponent);
    this.#valueEnded();
    return this.#take(code);
  }

  #between(code: number): boolean {
    switch (this.#state) {
      case valueOrEnd:
        if (code === 0x5d) return this.#close(false);
        return this.#valueBegins(code);
      case value:
        return this.#valueBegins(code);
      case keyOrEnd:
        if (code === 0x7d) return this.#close(true);
        return this.#keyBegins(code);
      case key:
        return this.#keyBegins(code);
      case colon:
        return code === 0x3a && this.#to(value);
      case commaOrEnd: {
        const inObject = this.#open.at(-1) === true;
        if (code === 0x2c) return this.#to(inObject ? key : value);
        return code === (inObject ? 0x7d : 0x5d) && this.#close(inObject);
      }
      default:
        return false;
    }
  }

  #valueBegins(code: number): boolean {
    switch (code) {
      case 0x22:
        this.#isKey = false;
        return this.#to(string);
      case 0x7b:
        return this.#begin(true);
      case 0x5b:
        return this.#begin(false);
      case 0x2d:
        return this.#to(minus);
      case 0x30:
        return this.#to(zero);
      default: {
        if (isDigit(code)) return this.#to(integer);
        const word = literals.get(code);
        if (word === undefined) return false;
        this.#literal = word;
        this.#literalAt = 1;
        return this.#to(literal);
      }
    }
  }

  #keyBegins(code: number): boolean {
    this.#isKey = true;
    return code === 0x22 && this.#to(string);
  }

  #begin(isObject: boolean): boolean {
    this.#open.push(isObject);
    return this.#open.length <= this.#maxDepth && this.#to(isObject ? keyOrEnd : valueOrEnd);
  }

  #close(isObject: boolean): boolean {
    return this.#open.pop() === isObject && this.#valueEnded();
  }

  #valueEnded(): boolean {
    return this.#to(this.#open.length === 0 ? done : commaOrEnd);
  }

  #numberMayEnd(): boolean {
    const state = this.#state;
    return state === zero || state === integer || state === fraction || state === exponentDigits;
  }

  #to(state: number): true {
    this.#state = state;
    return true;
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isHex(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isSimpleEscape(code: number): boolean {
  // " \ / b f n r t
  return (
    code === 0x22 ||
    code === 0x5c ||
    code === 0x2f ||
    code === 0x62 ||
    code === 0x66 ||
    code === 0x6e ||
    code === 0x72 ||
    code === 0x74
  );
}

/** So much is checked before other work gets its turn: some 2 ms. */
const pieceLength = 256 * 1024;

/** Whether a text is JSON of at most `maxDepth` levels. Answers at once for a small one. */
export function isJson(text: string, maxDepth: number): boolean | Promise<boolean> {
  const checker = new JsonChecker(maxDepth);
  if (text.length <= pieceLength) return checker.feed(text) && checker.end();
  return checkInPieces(checker, text);
}

async function checkInPieces(checker: JsonChecker, text: string): Promise<boolean> {
  for (let start = 0; start < text.length; start += pieceLength) {
    if (!checker.feed(text.slice(start, start + pieceLength))) return false;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return checker.end();
}
