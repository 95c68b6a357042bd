/** The ARN of an Amazon SNS topic, whose region names the hosts that sign its messages. */

export interface SnsTopic {
  /** For example `sns.eu-west-1.amazonaws.com`; with `.cn` in China. */
  host: string;
  region: string;
}

const arn =
  /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]{2,10}){1,3}-[0-9]{1,2}):[0-9]{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/;

/** Null for text that is not the ARN of a topic. */
export function snsTopic(text: string): SnsTopic | null {
  const [, partition, region] = arn.exec(text) ?? [];
  if (partition === undefined || region === undefined) return null;
  const domain = partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com";
  return { host: `sns.${region}.${domain}`, region };
}
