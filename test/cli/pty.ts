/**
 * Runs a command on a pseudo-terminal and types the answers of a script. It runs on Bun, which has pseudo-terminals;
 * the command may use any runtime. Reads a {@link Scene} from its argument and prints an {@link Outcome}.
 */

export interface Scene {
  command: string[];
  cwd: string;
  env: Record<string, string>;
  columns: number;
  /** Each `types` is typed once, `afterMs` after `when` appears in the output since the previous answer. */
  script: { when: string; types: string; afterMs?: number }[];
}

export interface Outcome {
  code: number;
  /** The output with its escape sequences. */
  screen: string;
}

interface Terminal {
  write(text: string): void;
}

/** The part of Bun's API that this file uses. */
declare const Bun: {
  spawn(
    command: string[],
    options: {
      cwd: string;
      env: Record<string, string>;
      terminal: { cols: number; rows: number; data(terminal: Terminal, chunk: Uint8Array): void };
    },
  ): { exited: Promise<number> };
};

const scene: Scene = JSON.parse(process.argv[2] ?? "");
const decoder = new TextDecoder();
let screen = "";
let seen = 0;
const { exited } = Bun.spawn(scene.command, {
  cwd: scene.cwd,
  env: scene.env,
  terminal: {
    cols: scene.columns,
    rows: 40,
    data(terminal, chunk) {
      screen += decoder.decode(chunk, { stream: true });
      const [next] = scene.script;
      if (next === undefined || !screen.slice(seen).includes(next.when)) return;
      scene.script.shift();
      seen = screen.length;
      setTimeout(() => terminal.write(next.types), next.afterMs ?? 0);
    },
  },
});
const outcome: Outcome = { code: await exited, screen };
console.log(JSON.stringify(outcome));
