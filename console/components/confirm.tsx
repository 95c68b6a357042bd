/** A button whose action needs a confirmation. */
import { useRef } from "preact/hooks";

export function ConfirmButton({
  label,
  question,
  detail,
  kind = "",
  disabled = false,
  onConfirm,
}: {
  label: string;
  question: string;
  detail?: string;
  kind?: "danger" | "";
  disabled?: boolean;
  onConfirm(): unknown;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button type="button" class={kind} disabled={disabled} onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={question}>
        <p>{question}</p>
        {detail === undefined ? null : <p class="dim">{detail}</p>}
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep
          </button>
          <button
            type="button"
            class={kind || "primary"}
            onClick={() => {
              dialog.current?.close();
              void onConfirm();
            }}
          >
            {label}
          </button>
        </div>
      </dialog>
    </>
  );
}
