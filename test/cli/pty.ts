/**
 * Runs a command on a pseudo-terminal and types what the script says. For Bun, which has such terminals built in; the
 * command may be of any runtime. Reads a {@link Scene} from its argument and prints an {@link Outcome}.
 */

export interface Scene {
  command: string[];
  cwd: string;
  env: Record<string, string>;
  columns: number;
  /** Each `types` is typed once, as soon as `when` has been shown since what was typed before. */
  script: { when: string; types: string }[];
}

export interface Outcome {
  code: number;
  /** All that the terminal was sent, with its escape sequences. */
  screen: string;
}

interface Terminal {
  write(text: string): void;
}

/** The part of Bun's API that is used here. */
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
      terminal.write(next.types);
    },
  },
});
const outcome: Outcome = { code: await exited, screen };
console.log(JSON.stringify(outcome));
