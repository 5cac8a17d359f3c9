// What the operator's forms and questions share: the API's reasons at their field, and a question before a change.
import { Alert, Stack, Text } from "@mantine/core";
import { type ReactNode, type RefObject, useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { ApiError, Outcome } from "../../api/request.ts";
import { Dialog, DialogButtons, type DialogState } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useAdminChange } from "../../state/use-admin.ts";
import { recogniseReason } from "./reasons.ts";

/** The API's reason for one field, in the reader's language, as an input takes it. */
export function useReasons(error: ApiError | undefined): (field: string) => string | undefined {
  const { t } = useTranslation("operatorReasons");
  return (field) => {
    const reason = error?.details?.[field];
    const known = reason === undefined ? undefined : recogniseReason(reason);
    return known ? t(known.name, { place: known.place }) : reason;
  };
}

/** For the form: after a refusal the reader goes on at the first field that has a reason, however far up it is. */
export function useFirstWrong(refusal: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!refusal) return;
    const field = form.current?.querySelector<HTMLElement>("[aria-invalid=true], [data-wrong] input");
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
  }, [refusal]);
  return form;
}

/** Everything that an error says and no field of the form has said already. */
export function FormError(props: {
  readonly error: ApiError | undefined;
  readonly fields?: readonly string[];
}) {
  const { t } = useTranslation("status");
  const { error, fields = [] } = props;
  const reasonFor = useReasons(error);
  if (!error) return null;
  const details = Object.keys(error.details ?? {});
  const rest = details.filter((field) => !fields.includes(field));
  if (details.length > 0 && rest.length === 0) return null;
  const isUnreachable = error.code === 0;
  return (
    <Alert
      role="alert"
      color="red"
      title={t(isUnreachable ? "title.unreachable" : "title.failed")}
      icon={<Icon name="warning" />}
    >
      {!isUnreachable && (
        <Text size="sm">{t("text.failed", { message: error.message, code: error.code })}</Text>
      )}
      {rest.map((field) => (
        <Text size="sm" key={field} className="untrusted">
          {field}: {reasonFor(field)}
        </Text>
      ))}
    </Alert>
  );
}

/** Asks, does it, and says why when it did not work. */
export function ChangeDialog<I, T>(props: {
  readonly state: DialogState<I>;
  readonly title: string;
  readonly label: string;
  readonly change: (item: I) => Promise<Outcome<T>>;
  readonly invalidates: readonly string[];
  readonly onDone?: (made: T | undefined, item: I) => void;
  readonly children: (item: I) => ReactNode;
}) {
  return (
    <Dialog state={props.state} title={props.title}>
      {(item) => <ChangeQuestion {...props} item={item} />}
    </Dialog>
  );
}

function ChangeQuestion<I, T>(props: Parameters<typeof ChangeDialog<I, T>>[0] & { readonly item: I }) {
  const { item, state } = props;
  // What a 204 answers is undefined, as is a failure: `isDone` tells them apart.
  const { run, isRunning, error } = useAdminChange(async (given: I) => {
    const outcome = await props.change(given);
    return outcome.ok ? { ...outcome, value: { made: outcome.value } } : outcome;
  }, props.invalidates);
  async function confirm() {
    const done = await run(item);
    if (!done) return;
    state.close();
    props.onDone?.(done.made, item);
  }
  return (
    <Stack gap="sm">
      {props.children(item)}
      <FormError error={error} />
      <DialogButtons
        label={props.label}
        isDangerous
        isRunning={isRunning}
        onCancel={state.close}
        onConfirm={() => void confirm()}
      />
    </Stack>
  );
}
