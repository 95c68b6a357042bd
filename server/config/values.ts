/** Parses environment variables and options. Each function throws an Error that names the variable, the rule and the value. */

export type Environment = Record<string, string | undefined>;

export function oneOf<Word extends string>(
  variable: string,
  value: string | undefined,
  words: readonly Word[],
): Word | null {
  if (!value) return null;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) {
    throw new Error(`Cannot use ${variable}: it must be one of ${words.join(", ")}, not '${value}'.`);
  }
  return word;
}

export function wholeNumber(
  name: string,
  value: string | number,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < min || number > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new Error(`Cannot use ${name}: it must be a whole number ${range}, not '${value}'.`);
  }
  return number;
}

export function metricsToken(value: string | undefined): string | null {
  if (!value) return null;
  if (/^[\w.~+/=-]{16,256}$/.test(value)) return value;
  throw new Error(
    "Cannot use SVC_METRICS_TOKEN: it must have 16 to 256 letters, digits and characters of -._~+/=.",
  );
}

export function port(value: string | number): number {
  return wholeNumber("the port (--port, SVC_PORT)", value, 0, 65_535);
}

export function hostNames(value: string): string[] {
  const names = value.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !/^(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])$/i.test(name));
  if (wrong !== undefined) {
    throw new Error(
      `Cannot use SVC_ALLOWED_HOSTS: it must be host names separated by commas, without ports, not '${wrong}'.`,
    );
  }
  return names.filter((name) => name !== "");
}

export function corsOrigins(value: string): string[] {
  const origins = value.split(",").map((origin) => origin.trim());
  const known = origins.filter((origin) => origin !== "");
  const wrong = known.find(
    (origin) =>
      origin !== "*" && (origin.includes("*") || !URL.canParse(origin) || new URL(origin).origin !== origin),
  );
  if (wrong !== undefined) {
    throw new Error(
      `Cannot use SVC_CORS_ORIGINS: it must be * or origins separated by commas, for example https://app.example.com, not '${wrong}'.`,
    );
  }
  return known;
}

export function publicUrl(value: string | undefined): string | null {
  if (!value) return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new Error(
      `Cannot use the public URL (--public-url, SVC_PUBLIC_URL): it must be an http or https URL without a query, not '${value}'.`,
    );
  }
  return url.href.replace(/\/+$/, "");
}
