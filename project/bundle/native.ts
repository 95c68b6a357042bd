import { readFileSync } from "node:fs";

/** Packages whose only purpose is to load a native addon at run time. */
const loaders = [
  "bindings",
  "node-gyp-build",
  "node-gyp-build-optional-packages",
  "@mapbox/node-pre-gyp",
  "node-pre-gyp",
  "prebuild-install",
];

/** Specifiers to ask about. What leads to a `.node` file by another name, esbuild refuses by itself. */
export const addonFilter: RegExp = new RegExp(`\\.node$|^(?:${loaders.join("|")})$`);

/**
 * Whether an import in a package means that it cannot do without a native addon: one of a `.node` file, or of a loader
 * of addons that is not tried with something else to fall back on.
 */
export function needsAddon(specifier: string, resolved: string, importer: string): boolean {
  if (resolved.endsWith(".node")) return true;
  return loaders.includes(specifier) && !isTried(specifier, importer);
}

function isTried(specifier: string, importer: string): boolean {
  const text = readFileSync(importer, "utf8");
  const name = specifier.replace(/[^\w]/g, "\\$&");
  return new RegExp(`\\btry\\s*\\{[^{}]*\\brequire\\(\\s*["'\`]${name}["'\`]\\s*\\)`).test(text);
}
