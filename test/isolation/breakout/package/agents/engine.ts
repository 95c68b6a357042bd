import module from "node:module";
import v8 from "node:v8";
import vm from "node:vm";
import { type Agent, type Attempt, absent, onBun, onDeno, onNode, subject } from "../attempts.ts";

/** Whether V8 accepted `--allow-natives-syntax`: the syntax is an error without it. */
function nativesAccepted(): string {
  return `${vm.runInThisContext("%IsSmi(1)")} TOP SECRET`;
}

type Compile = (source: string, options: vm.ScriptOptions) => unknown;

let scripts = 0;

/**
 * Compiles a script with a forged code cache, in which a constant differs from the source. Bytecode is not verified: with
 * other changes it would read and write the memory of the process.
 */
function forge(compile: Compile): string {
  absent(onBun);
  const source = `(function f() { return 1234567; })() /* ${scripts++} */`;
  const script = new vm.Script(source);
  script.runInThisContext();
  const cache = script.createCachedData();
  const constant = Buffer.alloc(4);
  constant.writeInt32LE(1234567);
  const at = cache.indexOf(constant);
  if (at < 0) throw new Error("the constant was not found");
  cache.writeInt32LE(7654321, at);
  // Another text of the same length, so that the engine does not find the first script in memory.
  const compiled = compile(source.replace("f()", "g()"), { cachedData: cache });
  const value = compiled instanceof vm.Script ? compiled.runInThisContext() : compiled;
  if (value !== 7654321) throw new Error("the forged cache was ignored");
  return "TOP SECRET";
}

const scriptOf = (owner: unknown): Compile => {
  const { Script } = owner as typeof vm;
  return (source, options) => new Script(source, options);
};

export const attempts: Record<string, Attempt> = {
  "a flag that adds syntax": () => {
    absent(onBun);
    v8.setFlagsFromString("--allow-natives-syntax");
    return nativesAccepted();
  },
  "a flag through a required module": () => {
    absent(onBun);
    module
      .createRequire(import.meta.url)("v8")
      .setFlagsFromString("--allow-natives-syntax");
    return nativesAccepted();
  },
  "a flag that writes files": ({ outside }) => {
    absent(onBun);
    for (const flag of ["--no-concurrent-recompilation", `--trace-turbo-path=${outside}`, "--trace-turbo"])
      v8.setFlagsFromString(flag);
    const sum = new Function("n", "let s = 0; for (let i = 0; i < n; i++) s += i * 3; return s");
    for (let i = 0; i < 300; i++) sum(10_000);
    throw new Error("no flag was changed");
  },
  "a heap snapshot at the memory limit": () => {
    absent(onBun);
    v8.setHeapSnapshotNearHeapLimit(1);
    return "TOP SECRET";
  },
  "the inspector": async () => {
    absent(onBun);
    const { Session } = await import("node:inspector");
    new Session().connect();
    return "TOP SECRET";
  },
  "a forged code cache": () => forge((source, options) => new vm.Script(source, options)),
  "a forged code cache of a named import": async () => forge(scriptOf(await import("node:vm"))),
  "a forged code cache of a required module": () =>
    forge(scriptOf(module.createRequire(import.meta.url)("node:vm"))),
  "a forged code cache of a script's constructor": () =>
    forge((source, options) => Reflect.construct(new vm.Script("1").constructor, [source, options])),
  "a forged code cache of the class behind scripts": () => {
    absent(!onNode);
    const Script = Object.getPrototypeOf(vm.Script);
    return forge((source, { cachedData }) => {
      const script = new Script(source, "file", 0, 0, cachedData, false, undefined, Symbol("file"));
      return vm.Script.prototype.runInThisContext.call(script);
    });
  },
  "a forged code cache behind a getter": () =>
    forge((source, { cachedData }) => {
      const options = {
        get cachedData() {
          return cachedData;
        },
      };
      return new vm.Script(source, options as vm.ScriptOptions);
    }),
  "a forged code cache of runInThisContext": () =>
    forge((source, options) => vm.runInThisContext(source, options)),
  "a forged code cache of runInNewContext": () =>
    forge((source, options) => vm.runInNewContext(source, {}, options)),
  "a forged code cache behind module hooks": async () => {
    absent(!onDeno);
    const { registerHooks } = await import("node:module");
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === "node:vm?"
          ? { url: "node:vm", format: "builtin", shortCircuit: true }
          : next(specifier, context),
    });
    return forge(scriptOf(await import("node:vm?" as string)));
  },
  "a compile cache in the scratch folder": async () => {
    const { enableCompileCache } = await import("node:module");
    absent(onBun || enableCompileCache === undefined);
    const { status } = enableCompileCache("compile-cache");
    if (status === 3) throw new Error("disabled");
    return "TOP SECRET";
  },
};

const agent: Agent = subject(attempts);
export default agent;
