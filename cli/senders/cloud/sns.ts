import type { Sender } from "../sender.ts";

export const sns: Sender = {
  name: "sns",
  title: "Amazon SNS",
  description: "Messages of a topic, such as alarms of CloudWatch",
  webhook: {
    signature: { scheme: "sns", topic: "arn:aws:sns:us-east-1:123456789012:example" },
    field_mapping: {
      TopicArn: "topic",
      Subject: { parameter: "subject", default: "" },
      Message: "message",
      Timestamp: "time",
    },
  },
  secrets: {},
  setup:
    "Replace topic by the ARN of the topic and push. In the SNS console, create a subscription with the protocol HTTPS and paste the URL as Endpoint, without raw message delivery.",
  sample: {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: "arn:aws:sns:us-east-1:123456789012:example",
    Subject: "Order",
    Message: '{"order":1001,"note":"größe"}',
    Timestamp: "2023-11-14T22:13:20.000Z",
    SignatureVersion: "2",
    Signature: "EXAMPLE",
    SigningCertURL: "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem",
  },
};
