import { isBuiltinModule } from "./builtins.ts";

/** The target of an import. */
export type Specifier =
  | { kind: "file"; path: string }
  | { kind: "package"; name: string; subpath: string }
  | { kind: "provided" }
  | { kind: "rejected"; reason: string };

/** Modules that the server provides. */
const provided: readonly string[] = ["svc", "svc/plugin"];

/** Parses a specifier by the rules of ECMAScript modules: a path, a URL, or a package name with a subpath. */
export function readSpecifier(specifier: string): Specifier {
  if (/^\.\.?(\/|$)/.test(specifier)) return filePath(specifier);
  if (provided.includes(specifier) || isBuiltinModule(specifier)) return { kind: "provided" };
  if (specifier.startsWith("svc/")) return rejected(`svc has no such module, only ${provided.join(" and ")}`);
  if (specifier.startsWith("/"))
    return rejected("it leaves the project, and only files of the project are deployed");
  if (specifier.startsWith("#")) {
    return rejected("the package.json that defines # imports is not deployed; use a relative path");
  }
  if (/^(npm|jsr):/.test(specifier)) {
    return rejected("only packages in node_modules are deployed; install it there and import it by its name");
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(specifier)) {
    return rejected("only relative paths, packages in node_modules and modules of Node can be imported");
  }
  const [, name, subpath] = /^((?:@[^/@\\]+\/)?[^/@\\%][^/\\%]*)(?:\/(.+))?$/.exec(specifier) ?? [];
  if (name === undefined || name.startsWith(".")) return rejected("it is not the name of a package");
  return { kind: "package", name, subpath: subpath === undefined ? "." : `./${subpath}` };
}

/** Paths in imports are URLs: percent-encoded, with a query and fragment that are not part of the path. */
function filePath(specifier: string): Specifier {
  try {
    return { kind: "file", path: decodeURIComponent(specifier.replace(/[?#].*$/s, "")) };
  } catch {
    return rejected("its percent-encoding is invalid");
  }
}

function rejected(reason: string): Specifier {
  return { kind: "rejected", reason };
}
