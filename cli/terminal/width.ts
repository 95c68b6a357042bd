/** Widths of text on a terminal, in columns. */

const wide =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]|\ufe0f/u;
const asciiOnly = /^[\x20-\x7e]*$/;

/** The columns of a text without control characters: 2 for emoji and East Asian characters, 1 for others. */
export function widthOf(text: string): number {
  if (asciiOnly.test(text)) return text.length;
  return charactersOf(text).reduce((sum, character) => sum + widthOfCharacter(character), 0);
}

/** Replaces the middle of a text that is too wide: the beginning and the end of a name tell names apart. */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const characters = charactersOf(text);
  const tailWidth = Math.floor((width - 1) / 2);
  const tail = fitting(characters.toReversed(), tailWidth).toReversed().join("");
  const head = fitting(characters, width - 1 - tailWidth).join("");
  return `${head}…${tail}`;
}

/** The first characters that fit. */
function fitting(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += widthOfCharacter(character);
    return used > width;
  });
  return characters.slice(0, end === -1 ? characters.length : end);
}

/** Characters as people count them: a letter with its accents, an emoji of several code points. */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function widthOfCharacter(character: string): number {
  return wide.test(character) ? 2 : 1;
}
