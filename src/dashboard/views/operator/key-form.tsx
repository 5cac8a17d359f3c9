// The form of a key: whose it is, and what it may do. Only what was changed is sent.
import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Version } from "../../../core/api-key.ts";
import { SECTIONS, type Section } from "../../../core/sections.ts";
import type { KeyResource, KeyUpdate, NewKey } from "../../../core/wire/key.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { ApiError } from "../../api/request.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { writeUnseen } from "../../parts/game-text.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { FormError, useFirstWrong, useReasons } from "./change.tsx";
import { CommandNamesInput, joinNames } from "./command-names-input.tsx";

const VERSIONS: readonly Version[] = ["v2", "v1"];
const EVERY_COMMAND = "*";
const FIELDS = ["server_id", "label", "versions", "sections", "commands", "ip_allow", "expires_at"];

type Commanding = "none" | "some" | "all";

type Draft = {
  readonly serverId: string;
  readonly label: string;
  readonly versions: readonly string[];
  readonly sections: readonly string[];
  readonly commanding: Commanding;
  readonly names: readonly string[];
  readonly typedName: string;
  readonly addresses: string;
  /** As the input has it: local time to the minute. */
  readonly expires: string;
};

export function CreateKeyForm(props: {
  readonly servers: readonly ServerResource[];
  readonly serverId: string | undefined;
  readonly onCancel: () => void;
  readonly onDone: (made: KeyResource & { readonly token: string }) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { run, isRunning, error } = useAdminChange(admin.createKey, ["keys"]);
  const first = props.serverId ?? props.servers[0]?.server_id ?? "";
  async function submit(draft: Draft) {
    const body: NewKey = { server_id: draft.serverId, label: draft.label.trim(), ...rightsOf(draft) };
    const made = await run(body);
    if (made) props.onDone(made);
  }
  return (
    <KeyForm
      start={{
        serverId: first,
        label: "",
        versions: ["v2"],
        sections: SECTIONS,
        commanding: "none",
        names: [],
        typedName: "",
        addresses: "",
        expires: "",
      }}
      servers={props.servers}
      error={error}
      isRunning={isRunning}
      submitLabel={t("createAction")}
      onCancel={props.onCancel}
      onSubmit={(draft) => void submit(draft)}
    />
  );
}

export function EditKeyForm(props: {
  readonly apiKey: KeyResource;
  readonly onCancel: () => void;
  readonly onDone: (key: KeyResource) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { apiKey } = props;
  const [isIdle, setIdle] = useState(false);
  const { run, isRunning, error } = useAdminChange(
    (change: KeyUpdate) => admin.changeKey(apiKey.key_id, change),
    ["keys"],
  );
  const start = draftOf(apiKey);
  async function submit(draft: Draft) {
    const change = compare(start, draft);
    setIdle(Object.keys(change).length === 0);
    if (Object.keys(change).length === 0) return;
    const changed = await run(change);
    if (changed) props.onDone(changed);
  }
  return (
    <KeyForm
      start={start}
      error={error}
      isRunning={isRunning}
      submitLabel={t("save")}
      note={isIdle ? t("form.nothingChanged") : undefined}
      onCancel={props.onCancel}
      onSubmit={(draft) => void submit(draft)}
    />
  );
}

function KeyForm(props: {
  readonly start: Draft;
  /** To choose from; a key that exists stays with its server. */
  readonly servers?: readonly ServerResource[];
  readonly error: ApiError | undefined;
  readonly isRunning: boolean;
  readonly submitLabel: string;
  readonly note?: string | undefined;
  readonly onCancel: () => void;
  readonly onSubmit: (draft: Draft) => void;
}) {
  const { t } = useTranslation(["operatorKeys", "status"]);
  const { servers } = props;
  const [draft, setDraft] = useState(props.start);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>();
  const expires = useRef<HTMLInputElement>(null);
  const error = faults ? undefined : props.error;
  const reasonFor = useReasons(error);
  const reasonOf = (field: string) => faults?.[field] ?? reasonFor(field);
  const form = useFirstWrong(faults ?? error);
  const set = (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change }));

  /** What the API cannot see: it would take both for what the reader did not mean. */
  function findFaults() {
    return {
      ...(draft.commanding === "some" &&
        rightsOf(draft).commands.length === 0 && { commands: t("form.needsName") }),
      // Half a date has no value, as if there was none.
      ...(expires.current?.validity.badInput && { expires_at: t("form.expiresHalf") }),
    };
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    const found = findFaults();
    const isWrong = Object.keys(found).length > 0;
    setFaults(isWrong ? found : undefined);
    if (!isWrong) props.onSubmit(draft);
  }

  return (
    <form ref={form} noValidate onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={t("form.label")}
          description={t("form.labelHint")}
          value={draft.label}
          onChange={(event) => set({ label: event.currentTarget.value })}
          error={reasonOf("label")}
          required
          data-autofocus
        />
        {servers && (
          <NativeSelect
            label={t("server")}
            value={draft.serverId}
            onChange={(event) => set({ serverId: event.currentTarget.value })}
            data={servers.map(({ server_id: value, name }) => ({ value, label: writeUnseen(name) }))}
            error={reasonOf("server_id")}
            required
          />
        )}
        <Fieldset legend={t("form.sections")} data-wrong={reasonOf("sections") && true}>
          <Stack gap="xs">
            <Group justify="space-between" gap="xs">
              <Text size="sm" c="dimmed" flex="1 1 12rem">
                {t("form.sectionsHint")}
              </Text>
              <Group gap="xs">
                <Button size="compact-sm" variant="light" onClick={() => set({ sections: SECTIONS })}>
                  {t("form.all")}
                </Button>
                <Button size="compact-sm" variant="light" onClick={() => set({ sections: [] })}>
                  {t("form.none")}
                </Button>
              </Group>
            </Group>
            <Checkbox.Group
              aria-label={t("form.sections")}
              value={[...draft.sections]}
              onChange={(sections) => set({ sections })}
            >
              <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs">
                {SECTIONS.map((name) => (
                  <Checkbox key={name} value={name} label={t(`status:sections.${name}`)} description={name} />
                ))}
              </SimpleGrid>
            </Checkbox.Group>
            <Reason>{reasonOf("sections")}</Reason>
          </Stack>
        </Fieldset>
        <Fieldset
          legend={t("form.commands")}
          data-wrong={draft.commanding !== "some" && reasonOf("commands") ? true : undefined}
        >
          <Stack gap="sm">
            <Radio.Group
              aria-label={t("form.commands")}
              value={draft.commanding}
              onChange={(value) => set({ commanding: value as Commanding })}
            >
              <Stack gap="xs">
                <Radio value="none" label={t("form.commandsNone")} />
                <Radio value="some" label={t("form.commandsSome")} />
                <Radio value="all" label={t("form.commandsAll")} description={t("form.commandsAllHint")} />
              </Stack>
            </Radio.Group>
            {draft.commanding === "some" && (
              <CommandNamesInput
                names={draft.names}
                onChange={(names) => set({ names })}
                typed={draft.typedName}
                onType={(typedName) => set({ typedName })}
                error={reasonOf("commands")}
              />
            )}
            {draft.commanding !== "some" && <Reason>{reasonOf("commands")}</Reason>}
          </Stack>
        </Fieldset>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Textarea
            label={t("form.ipAllow")}
            description={t("form.ipAllowHint")}
            value={draft.addresses}
            onChange={(event) => set({ addresses: event.currentTarget.value })}
            error={reasonOf("ip_allow")}
            rows={3}
            autoCapitalize="off"
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
          <TextInput
            ref={expires}
            type="datetime-local"
            label={t("form.expires")}
            description={t("form.expiresHint")}
            value={draft.expires}
            onChange={(event) => set({ expires: event.currentTarget.value })}
            error={reasonOf("expires_at")}
          />
        </SimpleGrid>
        <Fieldset legend={t("form.versions")} data-wrong={reasonOf("versions") && true}>
          <Checkbox.Group
            aria-label={t("form.versions")}
            value={[...draft.versions]}
            onChange={(versions) => set({ versions })}
          >
            <Stack gap="xs">
              {VERSIONS.map((version) => (
                <Checkbox
                  key={version}
                  value={version}
                  label={version}
                  description={version === "v1" ? t("form.v1Hint") : undefined}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <Reason>{reasonOf("versions")}</Reason>
        </Fieldset>
        <FormError error={error} fields={FIELDS} />
        <Text size="sm" role="status" ta="right">
          {props.note}
        </Text>
        <DialogButtons label={props.submitLabel} isRunning={props.isRunning} onCancel={props.onCancel} />
      </Stack>
    </form>
  );
}

function Reason({ children }: { readonly children: ReactNode }) {
  if (children === undefined) return null;
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {children}
    </Text>
  );
}

function draftOf(key: KeyResource): Draft {
  const isAll = key.commands.includes(EVERY_COMMAND);
  return {
    serverId: key.server_id,
    label: key.label,
    versions: key.versions,
    sections: key.sections,
    commanding: isAll ? "all" : key.commands.length > 0 ? "some" : "none",
    names: key.commands.filter((name) => name !== EVERY_COMMAND),
    typedName: "",
    addresses: key.ip_allow.join("\n"),
    expires: key.expires_at === null ? "" : toLocalInput(key.expires_at),
  };
}

function rightsOf(draft: Draft) {
  return {
    versions: draft.versions as Version[],
    sections: SECTIONS.filter((name) => draft.sections.includes(name)) as Section[],
    commands:
      draft.commanding === "all"
        ? [EVERY_COMMAND]
        : draft.commanding === "some"
          ? joinNames(draft.names, draft.typedName)
          : [],
    ip_allow: draft.addresses.split(/[\s,]+/).filter((entry) => entry !== ""),
    expires_at: draft.expires === "" ? null : new Date(draft.expires).getTime(),
  };
}

/** What differs. A time that was not touched is not sent: the input would cut its seconds off. */
function compare(start: Draft, draft: Draft): KeyUpdate {
  const before = rightsOf(start);
  const after = rightsOf(draft);
  const names = Object.keys(after) as (keyof typeof after)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return {
    ...Object.fromEntries(changed.map((name) => [name, after[name]])),
    ...(draft.label.trim() !== start.label && { label: draft.label.trim() }),
  };
}

function toLocalInput(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}
