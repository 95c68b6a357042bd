/** The module of a new agent. */
export function newAgent(name: string): string {
  return `import { defineAgent } from "svc";

interface Input {
  name?: string;
}

/** Describe ${name} here. */
export default defineAgent(async (input: Input, ctx) => {
  ctx.log.info(\`Attempt \${ctx.attempt} of \${ctx.executionId}\`);
  return { greeting: \`Hello, \${input.name ?? "world"}!\` };
});
`;
}

/** The module of a new workflow. */
export function newWorkflow(name: string): string {
  return `import { defineWorkflow } from "svc";

interface Input {
  names?: string[];
}

/** Describe ${name} here. It can run an agent: await ctx.run("<agent>", { … }, { key: "<step>" }). */
export default defineWorkflow(async (input: Input, ctx) => {
  ctx.log.info(\`Attempt \${ctx.attempt} of \${ctx.executionId}\`);
  return { count: input.names?.length ?? 0 };
});
`;
}
