import { isBuiltinModule } from "./builtins.ts";

/** What an import asks for. */
export type Specifier =
  | { kind: "file"; path: string }
  | { kind: "package"; name: string; subpath: string }
  | { kind: "provided" }
  | { kind: "refused"; why: string };

/** What the server provides: `svc` and its entry points. */
const provided: readonly string[] = ["svc", "svc/plugin"];

/** Reads a specifier as ECMAScript modules do: a path, a URL, or the name of a package and what of it. */
export function readSpecifier(specifier: string): Specifier {
  if (/^\.\.?(\/|$)/.test(specifier)) return filePath(specifier);
  if (provided.includes(specifier) || isBuiltinModule(specifier)) return { kind: "provided" };
  if (specifier.startsWith("svc/")) return refused(`svc has no such part, only ${provided.join(" and ")}`);
  if (specifier.startsWith("/"))
    return refused("it leaves agents/ and workflows/, and only these are deployed");
  if (specifier.startsWith("#")) {
    return refused("the package.json that gives # its meaning is not deployed; write a relative path");
  }
  if (/^(npm|jsr):/.test(specifier)) {
    return refused(
      "only packages of node_modules are deployed; install it there and import it by its name alone",
    );
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(specifier)) {
    return refused("only relative paths, packages of node_modules and modules of Node can be imported");
  }
  const [, name, subpath] = /^((?:@[^/@\\]+\/)?[^/@\\%][^/\\%]*)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined || name.startsWith(".")) return refused("it is not the name of a package");
  return { kind: "package", name, subpath: subpath === undefined ? "." : `./${subpath}` };
}

/** Paths in imports are URLs: percent-encoded, and what comes after `?` or `#` names no file. */
function filePath(specifier: string): Specifier {
  try {
    return { kind: "file", path: decodeURIComponent(specifier.replace(/[?#].*$/s, "")) };
  } catch {
    return refused("its percent-encoding is wrong");
  }
}

function refused(why: string): Specifier {
  return { kind: "refused", why };
}
