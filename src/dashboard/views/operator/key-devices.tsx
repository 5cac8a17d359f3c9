// The browsers that are signed in with a key, and the one-time link that signs in another: part of the details of a key.
import { Alert, Button, Code, Group, Stack, Text, Title } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { DeviceResource, LinkResource } from "../../../core/wire/session.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { FailedState } from "../../parts/states.tsx";
import { useAdmin, useAdminChange, useAdminQuery } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import { FormError } from "./change.tsx";
import { encodeQrCode, toSvgPath } from "./qr-code.ts";

const POLL_INTERVAL_MS = 15_000;
/** How long a link works. */
const LINK_MS = 10 * 60_000;
/** Modules of light margin that readers of a QR code need. */
const MARGIN = 4;

export function KeyDevices({ keyId }: { readonly keyId: string }) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { value, error, refresh } = useAdminQuery(
    ["keys", "devices", keyId],
    () => admin.listDevices(keyId),
    POLL_INTERVAL_MS,
  );
  return (
    <Stack gap="xs" component="section" aria-label={t("devices.title")}>
      <Title order={3} size="h5">
        {t("devices.title")}
      </Title>
      {error && !value && <FailedState error={error} onRetry={refresh} />}
      {value?.items.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("devices.none")}
        </Text>
      )}
      {value && value.items.length > 0 && (
        <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: "none" }}>
          {value.items.map((device) => (
            <DeviceRow key={device.device_id} keyId={keyId} device={device} />
          ))}
        </Stack>
      )}
      <OneTimeLink keyId={keyId} />
    </Stack>
  );
}

function DeviceRow({ keyId, device }: { readonly keyId: string; readonly device: DeviceResource }) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const format = useFormat();
  const { run, isRunning, error } = useAdminChange(() => admin.endDevice(keyId, device.device_id), ["keys"]);
  const name = device.description === "" ? t("devices.unknown") : device.description;
  const times = [
    t("devices.since", { time: format.dateTime(device.created_at) }),
    ...(device.last_used_at === null
      ? []
      : [t("devices.lastUsed", { time: format.dateTime(device.last_used_at) })]),
    t("devices.expires", { time: format.dateTime(device.expires_at) }),
  ];
  return (
    <li>
      <Group justify="space-between" gap="xs">
        <Stack gap={0} flex="1 1 14rem" miw={0}>
          <Text size="sm" fw={600} className="untrusted">
            {name}
          </Text>
          <Text size="sm" c="dimmed" className="numbers">
            {times.join(" · ")}
          </Text>
        </Stack>
        <Button
          size="xs"
          variant="light"
          color="red"
          loading={isRunning}
          onClick={() => void run(undefined)}
          aria-label={t("devices.endName", { name })}
        >
          {t("devices.end")}
        </Button>
      </Group>
      <FormError error={error} />
    </li>
  );
}

function OneTimeLink({ keyId }: { readonly keyId: string }) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const [link, setLink] = useState<LinkResource>();
  const { run, isRunning, error } = useAdminChange(() => admin.makeLink(keyId), [], true);
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        size="xs"
        variant="light"
        leftSection={<Icon name="plus" size={14} />}
        loading={isRunning}
        onClick={() => void run(undefined).then((made) => made && setLink(made))}
      >
        {t(link ? "link.another" : "link.make")}
      </Button>
      <FormError error={error} />
      {link && <ShownLink key={link.url} link={link} />}
    </Stack>
  );
}

function ShownLink({ link }: { readonly link: LinkResource }) {
  const { t } = useTranslation("operatorKeys");
  const now = useNow();
  const [shownAt] = useState(() => Date.now());
  // By this machine's clock, which may differ from the server's: every link is new when it is shown.
  const minutes = Math.ceil((shownAt + LINK_MS - now) / 60_000);
  if (minutes <= 0) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t("link.over")}
      </Text>
    );
  }
  return (
    <Stack gap="xs" w="100%" role="group" aria-label={t("link.title")}>
      <Alert color="yellow" icon={<Icon name="warning" />}>
        {t("link.warning", { count: minutes })}
      </Alert>
      <Group gap="md" align="flex-start">
        <QrCode text={link.url} label={t("link.qr")} />
        <Group gap={4} wrap="nowrap" flex="1 1 14rem" miw={0} align="flex-start">
          <Code block className="untrusted command-text" data-link miw={0} flex={1}>
            {link.url}
          </Code>
          <CopyButton value={link.url} label={t("link.title")} />
        </Group>
      </Group>
    </Stack>
  );
}

/** Dark on light in every colour scheme, because many readers need it so. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const modules = useMemo(() => encodeQrCode(text), [text]);
  const size = modules.length + 2 * MARGIN;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`${-MARGIN} ${-MARGIN} ${size} ${size}`}
      width={200}
      height={200}
      shapeRendering="crispEdges"
    >
      <rect x={-MARGIN} y={-MARGIN} width={size} height={size} fill="#fff" />
      <path d={toSvgPath(modules)} fill="#000" />
    </svg>
  );
}
