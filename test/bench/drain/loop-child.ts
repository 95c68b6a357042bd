/** The runner of the batching loop: runs the handler for each execution of a message, and answers with all outputs. */
process.on("message", (batch: { id: string; input: string }[]) => {
  void Promise.all(batch.map(run)).then((results) => process.send?.(results));
});

async function run({ id, input }: { id: string; input: string }): Promise<{ id: string; output: string }> {
  return { id, output: JSON.stringify(await handler(JSON.parse(input))) };
}

async function handler(_input: unknown): Promise<unknown> {
  return { at: performance.timeOrigin + performance.now() };
}
