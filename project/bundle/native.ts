import { readFileSync } from "node:fs";

/** Packages that load a native addon at run time. */
const loaders = [
  "bindings",
  "node-gyp-build",
  "node-gyp-build-optional-packages",
  "@mapbox/node-pre-gyp",
  "node-pre-gyp",
  "prebuild-install",
];

/** Specifiers to check. esbuild itself rejects other specifiers that resolve to a `.node` file. */
export const addonFilter: RegExp = new RegExp(`\\.node$|^(?:${loaders.join("|")})$`);

/**
 * Whether an import shows that a package requires a native addon: it imports a `.node` file, or an addon loader outside of
 * a `try` block.
 */
export function needsAddon(specifier: string, resolved: string, importer: string): boolean {
  if (resolved.endsWith(".node")) return true;
  return loaders.includes(specifier) && !isInTryBlock(specifier, importer);
}

function isInTryBlock(specifier: string, importer: string): boolean {
  const text = readFileSync(importer, "utf8");
  const name = specifier.replace(/[^\w]/g, "\\$&");
  return new RegExp(`\\btry\\s*\\{[^{}]*\\brequire\\(\\s*["'\`]${name}["'\`]\\s*\\)`).test(text);
}
