// Shows a secret that cannot be shown again, with a button that copies it: a token, what signs for a webhook, an invitation.
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { type ComponentProps, type ReactNode, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { encode } from "uqr";
import type { InvitationResource } from "../../../core/wire/people.ts";
import { Dialog, type DialogState } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { copyText, NamedSentence } from "../../parts/text/game-text.tsx";
import { useFormat } from "../../state/time/use-format.ts";

export type SecretTexts = {
  readonly [Name in "title" | "warning" | "label" | "copy" | "notCopied" | "done"]: string;
};

/** Only its buttons close it. The children stand above the secret. */
export function SecretDialog<S extends { readonly secret: string }>(props: {
  readonly state: DialogState<S>;
  readonly texts: SecretTexts;
  readonly children: (shown: S) => ReactNode;
}) {
  const { state, texts } = props;
  return (
    <Dialog state={state} title={texts.title} isSticky>
      {(shown) => (
        <Stack gap="sm">
          {props.children(shown)}
          <Alert color="yellow" icon={<Icon name="warning" />}>
            {texts.warning}
          </Alert>
          <CopiedSecret secret={shown.secret} texts={texts} data-token>
            {(copyButton) => (
              <Group justify="flex-end">
                {copyButton}
                <Button onClick={state.close}>{texts.done}</Button>
              </Group>
            )}
          </CopiedSecret>
        </Stack>
      )}
    </Dialog>
  );
}

/** A secret and the button that copies it, or selects it where the browser does not let it be copied. */
export function CopiedSecret(
  props: Omit<ComponentProps<typeof Code>, "children"> & {
    readonly secret: string;
    readonly texts: Pick<SecretTexts, "label" | "copy" | "notCopied">;
    readonly isSmall?: boolean;
    readonly children?: (copyButton: ReactNode) => ReactNode;
  },
) {
  const { t } = useTranslation("operator");
  const { secret, texts, isSmall = false, children = (button) => button, ...attributes } = props;
  const [isCopied, setCopied] = useState<boolean>();
  const code = useRef<HTMLPreElement>(null);
  async function copy() {
    const hasCopied = await copyText(secret);
    setCopied(hasCopied);
    if (!hasCopied && code.current) getSelection()?.selectAllChildren(code.current);
  }
  const look = isSmall
    ? { size: "compact-sm" }
    : { leftSection: <Icon name={isCopied ? "check" : "copy"} size={16} />, "data-autofocus": true };
  return (
    <>
      <Code {...attributes} ref={code} block className="untrusted command-text" aria-label={texts.label}>
        {secret}
      </Code>
      {isCopied === false && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {texts.notCopied}
        </Text>
      )}
      {children(
        <Button variant="light" {...look} onClick={() => void copy()}>
          {isCopied ? t("copied") : texts.copy}
        </Button>,
      )}
    </>
  );
}

export type WebhookSecret = {
  readonly label: string;
  readonly secret: string;
  /** Whether an old secret goes on signing for a while. */
  readonly isRotated?: boolean;
};

export function WebhookSecretDialog({ state }: { readonly state: DialogState<WebhookSecret> }) {
  const { t } = useTranslation("operatorWebhooks");
  return (
    <SecretDialog state={state} texts={t("secret", { returnObjects: true })}>
      {({ label, isRotated = false }) => (
        <Text>
          <NamedSentence
            names={[label]}
            write={(place) => t(isRotated ? "secret.forRotated" : "secret.for", { label: place })}
          />
        </Text>
      )}
    </SecretDialog>
  );
}

/** Modules of light margin that readers of a QR code need. */
const MARGIN = 4;

export function InvitationDialog(props: {
  readonly state: DialogState<InvitationResource & { readonly name: string }>;
}) {
  const { t } = useTranslation("operatorPeople");
  const format = useFormat();
  const { state } = props;
  const texts = t("invitation", { returnObjects: true });
  return (
    <Dialog state={state} title={t("invitation.title")} isSticky>
      {({ name, url, expires_at: expiresAt }) => (
        <Stack gap="sm">
          <Text>
            <NamedSentence names={[name]} write={(place) => t("invitation.for", { name: place })} />
          </Text>
          <Alert color="yellow" icon={<Icon name="warning" />}>
            {t("invitation.warning", { time: format.dateTime(expiresAt) })}
          </Alert>
          {isLoopback(url) && (
            <Alert color="orange" icon={<Icon name="warning" />} data-loopback>
              {t("invitation.loopback")}
            </Alert>
          )}
          <Group justify="center">
            <QrCode text={url} label={t("invitation.qr")} />
          </Group>
          <CopiedSecret secret={url} texts={texts} data-link>
            {(copyButton) => (
              <Group justify="flex-end">
                {copyButton}
                <Button onClick={state.close}>{t("invitation.done")}</Button>
              </Group>
            )}
          </CopiedSecret>
        </Stack>
      )}
    </Dialog>
  );
}

/** Whether an address leads to the computer on which it is opened. */
function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127\./.test(hostname);
}

/** Dark on light in every colour scheme, because many readers need it so. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = useMemo(() => encode(text, { ecc: "M", border: MARGIN }), [text]);
  const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")));
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      width={220}
      height={220}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
