/** Finds the handshake of a webhook: the configured one, or the one of its signature scheme. */
import type { HandshakeKind, WebhookDefinition } from "../../../project/definition.ts";
import { impliedHandshake } from "../../../project/definition.ts";
import { asana } from "./asana.ts";
import { cloudevents } from "./cloudevents.ts";
import { discord } from "./discord.ts";
import { dropbox } from "./dropbox.ts";
import { eventgrid } from "./eventgrid.ts";
import type { Handshake } from "./handshake.ts";
import { meta } from "./meta.ts";
import { microsoft } from "./microsoft.ts";
import { slack } from "./slack.ts";
import { sns } from "./sns.ts";
import { trello } from "./trello.ts";
import { websub } from "./websub.ts";
import { zoom } from "./zoom.ts";

export type { Answer, Handshake, Refusal } from "./handshake.ts";

const handshakes: Record<HandshakeKind, Handshake> = {
  slack,
  meta,
  zoom,
  microsoft,
  discord,
  dropbox,
  trello,
  cloudevents,
  eventgrid,
  websub,
  asana,
  sns,
};

/** Null for a webhook without a handshake. */
export function handshakeOf({ signature, handshake }: WebhookDefinition): Handshake | null {
  if (handshake === undefined && signature === null) return null;
  const kind = handshake?.kind ?? (signature === null ? null : impliedHandshake(signature.scheme));
  return kind === null || kind === "none" ? null : handshakes[kind];
}

/** Names of the secrets that the handshake uses. */
export function handshakeSecrets({ signature, handshake }: WebhookDefinition): readonly string[] {
  return handshake?.secret == null ? (signature?.secrets ?? []) : [handshake.secret];
}
