/** The order of test files: the longest first, so that at the end nobody waits for one of them. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take half a minute and more. Others follow as vitest has them. */
const long = [
  "test/executions/pool-",
  "test/service/durability",
  "test/service/executions",
  "test/service/webhooks",
  "test/service/deployments",
  "test/cli/journey",
  "test/cli/run",
  "test/cli/push",
];

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => long.some((part) => moduleId.includes(part));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
