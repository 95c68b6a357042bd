/** The senders that `svc webhook add` knows, by name. */
import { asana } from "./apps/asana.ts";
import { calendly } from "./apps/calendly.ts";
import { clerk } from "./apps/clerk.ts";
import { dropbox } from "./apps/dropbox.ts";
import { hubspot } from "./apps/hubspot.ts";
import { mailgun } from "./apps/mailgun.ts";
import { resend } from "./apps/resend.ts";
import { sendgrid } from "./apps/sendgrid.ts";
import { typeform } from "./apps/typeform.ts";
import { eventgrid } from "./cloud/eventgrid.ts";
import { google } from "./cloud/google.ts";
import { microsoft } from "./cloud/microsoft.ts";
import { sns } from "./cloud/sns.ts";
import { standard } from "./cloud/standard.ts";
import { svix } from "./cloud/svix.ts";
import { bitbucket } from "./code/bitbucket.ts";
import { github } from "./code/github.ts";
import { gitlab } from "./code/gitlab.ts";
import { jira } from "./code/jira.ts";
import { linear } from "./code/linear.ts";
import { trello } from "./code/trello.ts";
import { discord } from "./messages/discord.ts";
import { line } from "./messages/line.ts";
import { meta } from "./messages/meta.ts";
import { slack } from "./messages/slack.ts";
import { twilio } from "./messages/twilio.ts";
import { zoom } from "./messages/zoom.ts";
import { lemonsqueezy } from "./payments/lemonsqueezy.ts";
import { paddle } from "./payments/paddle.ts";
import { shopify } from "./payments/shopify.ts";
import { square } from "./payments/square.ts";
import { stripe } from "./payments/stripe.ts";
import type { Sender } from "./sender.ts";

export type { Sender } from "./sender.ts";

export const senders: readonly Sender[] = [
  asana,
  bitbucket,
  calendly,
  clerk,
  discord,
  dropbox,
  eventgrid,
  github,
  gitlab,
  google,
  hubspot,
  jira,
  lemonsqueezy,
  line,
  linear,
  mailgun,
  meta,
  microsoft,
  paddle,
  resend,
  sendgrid,
  shopify,
  slack,
  sns,
  square,
  standard,
  stripe,
  svix,
  trello,
  twilio,
  typeform,
  zoom,
];
