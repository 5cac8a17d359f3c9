// The operator's forms: @mantine/form with the API's reasons at the fields. Values and texts are named like the API's
// fields: texts are `fields` and `hints` of all views, or `input` and `hint` where a view has its own.
import { Alert, Fieldset, Stack, Text } from "@mantine/core";
import { type FormErrors, type GetInputPropsReturnType, type UseFormReturnType, useForm } from "@mantine/form";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ApiError, Outcome } from "../../api/request.ts";
import { Dialog, DialogButtons, type DialogState } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NamedSentence } from "../../parts/text/game-text.tsx";
import { useAdminChange } from "../../state/session/use-admin.ts";

/** Translates the API's reason for refusing a field; an unknown reason is shown as it came. */
function useReasonText(): (error: ApiError, field: string) => string | undefined {
  const { t, i18n } = useTranslation("operatorReasons");
  return (error, field) => {
    const { code = "", position } = error.reasons?.[field] ?? {};
    const key = (code === "invalid" ? `invalid.${field}` : code) as "no_address";
    // The instance that answers may be newer than this page.
    const isKnown = /^[\w.]+$/.test(key) && i18n.exists(key, { ns: "operatorReasons" });
    return isKnown ? t(key, { position }) : error.details?.[field];
  };
}

/** The returned ref belongs on the form. After each refusal the first field with a reason gets the focus. */
export function useFocusFirstInvalid(refusals: number): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusals === 0) return;
    const field = form.current?.querySelector<HTMLElement>("[aria-invalid=true], [data-wrong] input");
    field?.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "center" });
  }, [refusals]);
  return form;
}

export type ApiFormOptions<V, R, T> = {
  readonly start: V;
  /** Finds mistakes that the API cannot see, because it would accept the values with another meaning. */
  readonly validate?: (values: V) => FormErrors;
  /** The body of the request. An empty one is not sent, because nothing was changed. */
  readonly toBody: (values: V) => R;
  readonly change: (body: R) => Promise<Outcome<T>>;
  readonly invalidates: readonly string[];
  readonly onDone: (result: T) => void;
};

type InputProps = GetInputPropsReturnType & { readonly label: string; readonly description: string | undefined };

export type ApiForm<V> = Pick<UseFormReturnType<V>, "values" | "errors" | "setFieldValue"> & {
  /** The label, the hint, the value and the reason of a field, for its input. */
  readonly field: (name: keyof V & string, type?: "input" | "checkbox") => InputProps;
  readonly element: RefObject<HTMLFormElement | null>;
  readonly submit: UseFormReturnType<V>["onReset"];
  readonly error: ApiError | undefined;
  readonly isRunning: boolean;
  readonly isUnchanged: boolean;
};

/** `texts` is the namespace with the view's own texts of the fields. */
export function useApiForm<V extends object, R extends object, T>(
  texts: "operatorServers" | "operatorKeys" | "operatorPeople" | "operatorWebhooks",
  options: ApiFormOptions<V, R, T>,
): ApiForm<V> {
  const translate = useLooseTexts();
  const describeReason = useReasonText();
  const [refusals, setRefusals] = useState(0);
  const [isUnchanged, setUnchanged] = useState(false);
  const form = useForm<V>({
    initialValues: options.start,
    ...(options.validate && { validate: options.validate }),
  });
  const { run, isRunning, error, reset } = useAdminChange(async (body: R) => {
    const outcome = await options.change(body);
    if (!outcome.ok) {
      const fields = Object.keys(outcome.error.details ?? {});
      form.setErrors(Object.fromEntries(fields.map((field) => [field, describeReason(outcome.error, field)])));
      setRefusals((before) => before + 1);
    }
    return outcome;
  }, options.invalidates);

  async function send(values: V) {
    const body = options.toBody(values);
    const isEmpty = Object.keys(body).length === 0;
    setUnchanged(isEmpty);
    const result = isEmpty ? undefined : await run(body);
    if (result !== undefined) options.onDone(result);
  }
  function refuse() {
    reset();
    setRefusals((before) => before + 1);
  }

  return {
    values: form.values,
    errors: form.errors,
    setFieldValue: form.setFieldValue,
    field: (name, type = "input") => ({
      label: translate([`${texts}:input.${name}`, `operator:fields.${name}`]),
      description: translate([`${texts}:hint.${name}`, `operator:hints.${name}`], "") || undefined,
      ...form.getInputProps(name as never, { type }),
    }),
    element: useFocusFirstInvalid(refusals),
    submit: form.onSubmit((values) => void send(values), refuse),
    error,
    isRunning,
    isUnchanged,
  };
}

/** Looks up texts whose keys are only known at run time: the first of the keys that there is, or the alternative. */
export function useLooseTexts(): (keys: string | readonly string[], alternative?: string) => string {
  const { t } = useTranslation(["operator", "operatorKeys", "operatorPeople", "operatorServers", "operatorWebhooks"]);
  const look = t as unknown as (keys: string | readonly string[], options: object) => string;
  return (keys, alternative) => look(keys, alternative === undefined ? {} : { defaultValue: alternative });
}

/** The fields of a body that differ from those of another. */
export function listChanges<B extends object>(before: B, after: B): Partial<B> {
  const names = Object.keys(after) as (keyof B)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((name) => [name, after[name]])) as Partial<B>;
}

/** The frame of a form: its fields, then what went wrong, then its buttons. */
export function FormFrame<V extends object>(props: {
  readonly form: ApiForm<V>;
  readonly label: string;
  readonly onCancel: () => void;
  /** The text for a form that was submitted without a change. */
  readonly unchanged?: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}) {
  const { form, unchanged } = props;
  return (
    <form ref={form.element} noValidate onSubmit={form.submit}>
      <Stack gap={unchanged === undefined ? "sm" : "md"}>
        {props.children}
        <FormError error={form.error} fields={Object.keys(form.values)} />
        {unchanged !== undefined && (
          <Text size="sm" role="status" ta="right">
            {form.isUnchanged && unchanged}
          </Text>
        )}
        <DialogButtons
          label={props.label}
          isRunning={form.isRunning}
          isDangerous={props.isDangerous ?? false}
          isDisabled={props.isDisabled ?? false}
          onCancel={props.onCancel}
        />
      </Stack>
    </form>
  );
}

/** Several inputs of one field, and the reason for refusing it. */
export function FieldGroup(props: {
  readonly label: string;
  readonly error?: ReactNode;
  readonly gap?: string;
  readonly children: ReactNode;
}) {
  const { error } = props;
  return (
    <Fieldset legend={props.label} data-wrong={error === undefined ? undefined : true}>
      <Stack gap={props.gap ?? "xs"}>
        {props.children}
        <Reason>{error}</Reason>
      </Stack>
    </Fieldset>
  );
}

export function Reason({ children }: { readonly children: ReactNode }) {
  if (children === undefined) return null;
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {children}
    </Text>
  );
}

/** Shows an error, and the reasons for fields that the form does not show itself. */
export function FormError(props: { readonly error: ApiError | undefined; readonly fields?: readonly string[] }) {
  const { t } = useTranslation("status");
  const { error, fields = [] } = props;
  const describeReason = useReasonText();
  if (!error) return null;
  const reasons = Object.keys(error.details ?? {});
  const others = reasons.filter((field) => !fields.includes(field));
  if (reasons.length > 0 && others.length === 0) return null;
  const isUnreachable = error.code === 0;
  return (
    <Alert
      role="alert"
      color="red"
      title={t(isUnreachable ? "title.unreachable" : "title.failed")}
      icon={<Icon name="warning" />}
    >
      {!isUnreachable && <Text size="sm">{t("text.failed", { message: error.message, code: error.code })}</Text>}
      {others.map((field) => (
        <Text size="sm" key={field} className="untrusted">
          {field}: {describeReason(error, field)}
        </Text>
      ))}
    </Alert>
  );
}

/** Asks for a confirmation, makes the change, and shows the error when it fails. */
export function ChangeDialog<I, T>(props: {
  readonly state: DialogState<I>;
  readonly title: string;
  readonly label: string;
  readonly cancelLabel?: string;
  readonly change: (item: I) => Promise<Outcome<T>>;
  readonly invalidates: readonly string[];
  readonly onDone?: (value: T | undefined) => void;
  /** Above the text. */
  readonly children?: (item: I) => ReactNode;
  /** The name that the text has. */
  readonly nameOf: (item: I) => string;
  readonly text: (name: string, item: I) => string;
}) {
  return (
    <Dialog state={props.state} title={props.title}>
      {(item) => <ChangeDialogBody {...props} item={item} />}
    </Dialog>
  );
}

function ChangeDialogBody<I, T>(props: Parameters<typeof ChangeDialog<I, T>>[0] & { readonly item: I }) {
  const { item, state } = props;
  // The value of a 204 is undefined, as is the result of a failure. Wrapping the value tells them apart.
  const { run, isRunning, error } = useAdminChange(async (given: I) => {
    const outcome = await props.change(given);
    return outcome.ok ? { ...outcome, value: { value: outcome.value } } : outcome;
  }, props.invalidates);
  async function confirm() {
    const done = await run(item);
    if (!done) return;
    state.close();
    props.onDone?.(done.value);
  }
  return (
    <Stack gap="sm">
      {props.children?.(item)}
      <Text>
        <NamedSentence names={[props.nameOf(item)]} write={(name) => props.text(name, item)} />
      </Text>
      <FormError error={error} />
      <DialogButtons
        label={props.label}
        cancelLabel={props.cancelLabel}
        isDangerous
        isRunning={isRunning}
        onCancel={state.close}
        onConfirm={() => void confirm()}
      />
    </Stack>
  );
}
