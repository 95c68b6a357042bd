/** Judges the samples of a soak: the last third of the time against the middle third; the first third is warm-up. */

export interface Sample {
  minute: number;
  executions: number;
  serverMegabytes: number;
  runnerMegabytes: number;
  descriptors: number;
  storeMegabytes: number;
  bytesPerExecution: number;
  p50: number;
  p99: number;
  /** Empty when every webhook of the sample was accepted. */
  problem: string;
}

export interface Judgement {
  holds: boolean;
  text: string;
}

/** Growth from one third to the next that counts as flat. Garbage collection moves memory by this much. */
const flatRatio = 1.1;
const flatMegabytes = 15;
const flatDescriptors = 10;
const sameDiskRatio = 1.25;

export function judge(samples: readonly Sample[], failed: number): Judgement[] {
  if (samples.length < 6)
    return [{ holds: false, text: `too few samples: ${samples.length}, and 6 are needed` }];
  const third = Math.floor(samples.length / 3);
  const middle = samples.slice(third, -third);
  const last = samples.slice(-third);
  const means = (of: (sample: Sample) => number): [number, number] => [
    mean(middle.map(of)),
    mean(last.map(of)),
  ];
  const memory = (name: string, of: (sample: Sample) => number): Judgement => {
    const [from, to] = means(of);
    return {
      holds: to <= Math.max(from * flatRatio, from + flatMegabytes),
      text: `memory of the ${name}: ${from.toFixed(0)} MB in the middle third, ${to.toFixed(0)} MB in the last`,
    };
  };
  const [fromDescriptors, toDescriptors] = means(({ descriptors }) => descriptors);
  // Weighted by executions: the file grows in steps.
  const disk = (part: readonly Sample[]): number => {
    const [first, end] = [part[0], part.at(-1)];
    if (first === undefined || end === undefined) return Number.NaN;
    return ((end.storeMegabytes - first.storeMegabytes) * 1e6) / (end.executions - first.executions);
  };
  const [fromDisk, toDisk] = [disk(middle), disk(last)];
  const problems = samples.filter(({ problem }) => problem !== "").length;
  return [
    memory("server", ({ serverMegabytes }) => serverMegabytes),
    memory("runners", ({ runnerMegabytes }) => runnerMegabytes),
    {
      holds: toDescriptors <= fromDescriptors + flatDescriptors,
      text: `descriptors: ${fromDescriptors.toFixed(0)} in the middle third, ${toDescriptors.toFixed(0)} in the last`,
    },
    {
      holds: toDisk <= fromDisk * sameDiskRatio,
      text: `disk space: ${fromDisk.toFixed(0)} bytes per execution in the middle third, ${toDisk.toFixed(0)} in the last`,
    },
    { holds: problems === 0, text: `samples with a lost or refused webhook: ${problems}` },
    { holds: failed === 0, text: `failed executions: ${failed}` },
  ];
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
