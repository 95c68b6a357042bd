const rules: readonly (readonly [label: string, pattern: RegExp])[] = [
  ["bug", /crash|panic|error|broken|fails?\b|regression/i],
  ["documentation", /\bdocs?\b|readme|typo|documentation/i],
  ["enhancement", /support for|feature|please add|would be nice/i],
  ["security", /vulnerab|cve-|xss|injection/i],
];

/** The labels of a text, `question` when no rule matches. */
export function labelsOf(text: string): string[] {
  const labels = rules.filter(([, pattern]) => pattern.test(text)).map(([label]) => label);
  return labels.length === 0 ? ["question"] : labels;
}
