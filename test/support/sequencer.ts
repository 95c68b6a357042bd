/**
 * The order of test files. Vitest starts the largest files first, because they take longest. The files below are small and run
 * a suite of other modules, or wait for projects: last, they would run alone on the machine.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const takesLong =
  /\/(?:pool-\w+|runtimes|plugin\/\w+|clients\/grpc-js|layouts\/package|templates|dev-start)\.test\.ts$/;

export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ moduleId }: TestSpecification): boolean => takesLong.test(moduleId);
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}
