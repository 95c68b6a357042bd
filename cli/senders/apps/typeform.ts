import type { Sender } from "../sender.ts";

export const typeform: Sender = {
  name: "typeform",
  title: "Typeform",
  description: "Submitted forms",
  webhook: {
    signature: { scheme: "typeform", secret: "TYPEFORM_SECRET" },
    field_mapping: {
      event_type: "event",
      "form_response.form_id": "form",
      "form_response.answers": "answers",
      "form_response.submitted_at": { parameter: "submitted_at", default: null },
    },
  },
  secrets: { TYPEFORM_SECRET: "the text that you enter as Secret" },
  setup:
    "Open the form, Connect, Webhooks, Add a webhook. Paste the URL, then choose Edit and enter the secret.",
  sample: {
    event_id: "LtWXD3crgy",
    event_type: "form_response",
    form_response: {
      form_id: "lT4Z3j",
      token: "a3a12ec67a1365927098a606107fac15",
      submitted_at: "2023-11-14T22:13:20Z",
      answers: [{ type: "text", text: "größe", field: { id: "DlXFaesGBpoF", type: "short_text" } }],
    },
  },
};
