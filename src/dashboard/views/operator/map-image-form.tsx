// Sets, moves and removes the picture behind the map of a server.
import { Alert, Button, FileButton, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import { IMAGE_BYTES_MAX, IMAGE_SIDE_MAX, IMAGE_TYPES, type MapCorners } from "../../../core/map-image.ts";
import type { GameMapResource } from "../../../core/wire/game-map.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { Answer, ApiError } from "../../api/request.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { LoadingState } from "../../parts/states.tsx";
import { useAdmin, useAdminChange, useAdminQuery } from "../../state/use-admin.ts";
import { usePicture } from "../../state/use-game-map.ts";
import { makeGround } from "../map/ground.ts";
import { FormError, useFocusFirstInvalid } from "./change.tsx";
import { CORNERS, type CornerTexts, guessCorners, parseCornerTexts, writeCorners } from "./map-corners.ts";
import { MapPreview } from "./map-preview.tsx";

const FILE_TYPES = IMAGE_TYPES.join();
const MEGABYTE = 1024 * 1024;
/** Lists that show what changes. */
const INVALIDATED = ["audit", "map"];

const NO_FILE: Answer<null> = {
  ok: true,
  status: 200,
  value: null,
  etag: null,
  ageMs: 0,
  receivedAt: 0,
  limit: undefined,
};

type FormProps = {
  readonly server: ServerResource;
  readonly onCancel: () => void;
  readonly onDone: (what: "imageSet" | "imageRemoved") => void;
};

export function MapImageForm(props: FormProps) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { server_id: id } = props.server;
  const map = useAdminQuery(["map", id], () => admin.readServerMap(id));
  if (map.error?.code === ERRORS.notConfigured.code) return <Text>{t("map.noArchive")}</Text>;
  if (map.error) return <FormError error={map.error} />;
  return map.value ? <LoadedForm {...props} map={map.value} /> : <LoadingState />;
}

function LoadedForm({ server, map, onCancel, onDone }: FormProps & { readonly map: GameMapResource }) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { server_id: id } = server;
  const { image } = map;
  const kept = useAdminQuery<Blob | null>(["map-picture", id, image?.etag ?? ""], async () => {
    return image ? admin.readMapImage(id) : NO_FILE;
  });
  const [chosen, setChosen] = useState<File>();
  const [texts, setTexts] = useState<CornerTexts>(() => writeCorners(image ?? guessCorners(map)));
  const [submissions, setSubmissions] = useState(0);
  const file = chosen ?? kept.value ?? undefined;
  const isTooLarge = file !== undefined && file.size > IMAGE_BYTES_MAX;
  const { bitmap, isBroken } = usePicture(isTooLarge ? undefined : file);
  const ground = useMemo(() => makeGround(map), [map]);
  const parsed = parseCornerTexts(texts);
  const wrong = "field" in parsed ? parsed : undefined;
  const corners = "field" in parsed ? undefined : parsed;
  const saving = useAdminChange(
    (change: { readonly file: Blob; readonly corners: MapCorners }) =>
      admin.setMapImage(id, change.file, change.corners),
    INVALIDATED,
  );
  const removing = useAdminChange(async () => {
    const outcome = await admin.removeMapImage(id);
    return outcome.ok ? { ...outcome, value: true } : outcome;
  }, INVALIDATED);
  const error: ApiError | undefined = saving.error ?? removing.error ?? kept.error;
  const problem = findProblem();
  const form = useFocusFirstInvalid(submissions);

  /** What is wrong with the file. Looked up anew each time, so that it goes when another file is chosen. */
  function findProblem(): "missing" | "tooLarge" | "tooWide" | "notAnImage" | undefined {
    if (!file) return submissions > 0 ? "missing" : undefined;
    if (isTooLarge) return "tooLarge";
    if (error?.details?.body !== undefined) return "tooWide";
    return isBroken || error?.code === ERRORS.unsupportedMediaType.code ? "notAnImage" : undefined;
  }

  function choose(given: File | null) {
    if (!given) return;
    saving.reset();
    setChosen(given);
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setSubmissions((before) => before + 1);
    if (!file || isTooLarge || isBroken || !corners) return;
    if (await saving.run({ file, corners })) onDone("imageSet");
  }

  async function remove() {
    if (await removing.run(undefined)) onDone("imageRemoved");
  }

  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <Text size="sm">
          <NamedSentence names={[server.name]} write={(name) => t("map.text", { name })} />
        </Text>
        <Group gap="sm">
          <FileButton onChange={choose} accept={FILE_TYPES}>
            {(button) => (
              <Button {...button} variant="light" data-autofocus>
                {t(file ? "map.chooseOther" : "map.choose")}
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed" className="untrusted" role="status">
            {chosen
              ? chosen.name
              : image
                ? t("map.isSet", { width: image.width, height: image.height })
                : t("map.none")}
          </Text>
        </Group>
        <MapPreview picture={bitmap} corners={corners} ground={ground} label={t("map.preview")} />
        <Text size="sm" c="dimmed">
          {t("map.hint")}
        </Text>
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
          {CORNERS.map((field) => (
            <TextInput
              key={field}
              label={t(`map.corner.${field}`)}
              value={texts[field]}
              onChange={(event) => {
                const { value } = event.currentTarget;
                setTexts((before) => ({ ...before, [field]: value }));
              }}
              error={wrong?.field === field ? t(`map.wrong.${wrong.reason}`) : undefined}
              inputMode="numeric"
              autoComplete="off"
            />
          ))}
        </SimpleGrid>
        {problem ? (
          <Alert color="red" role="alert" icon={<Icon name="warning" />}>
            {t(`map.problem.${problem}`, { size: IMAGE_BYTES_MAX / MEGABYTE, side: IMAGE_SIDE_MAX })}
          </Alert>
        ) : (
          <FormError error={error} />
        )}
        <Group justify="space-between" align="flex-end">
          {image ? (
            <Button variant="light" color="red" loading={removing.isRunning} onClick={() => void remove()}>
              {t("map.remove")}
            </Button>
          ) : (
            <span />
          )}
          <DialogButtons label={t("save")} isRunning={saving.isRunning} onCancel={onCancel} />
        </Group>
      </Stack>
    </form>
  );
}
