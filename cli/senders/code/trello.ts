import type { Sender } from "../sender.ts";

export const trello: Sender = {
  name: "trello",
  title: "Trello",
  description: "Cards, lists and boards",
  webhook: {
    signature: { scheme: "trello", secret: "TRELLO_SECRET" },
    field_mapping: {
      "action.type": "type",
      "action.data.card.name": { parameter: "card", default: "" },
      "action.data.board.name": { parameter: "board", default: "" },
      "action.data.listAfter.name": { parameter: "list", default: "" },
      "action.memberCreator.username": { parameter: "member", default: "" },
    },
  },
  secrets: { TRELLO_SECRET: "the Secret of the Power-Up's API key" },
  setup: "Create the webhook with the API, POST /1/webhooks, and give the URL as callbackURL.",
  sample: {
    action: {
      id: "51f9424bcd6e040f3c002412",
      type: "updateCard",
      date: "2023-11-14T22:13:20.000Z",
      data: {
        card: { id: "c1", name: "Round prices" },
        board: { id: "b1", name: "Shop" },
        listBefore: { name: "To do" },
        listAfter: { name: "Doing" },
      },
      memberCreator: { username: "ada" },
    },
    model: { id: "b1", name: "Shop" },
  },
};
