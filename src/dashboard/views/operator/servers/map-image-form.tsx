// Sets, moves and removes the picture behind the map of a server, with a preview on the streets that were seen.
import {
  Alert,
  Button,
  FileButton,
  Group,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  useComputedColorScheme,
} from "@mantine/core";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../../core/errors.ts";
import {
  CORNER_MAX,
  IMAGE_BYTES_MAX,
  IMAGE_SIDE_MAX,
  IMAGE_TYPES,
  type MapCorners,
} from "../../../../core/maps/map-image.ts";
import type { GameMapResource } from "../../../../core/wire/game-map.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import type { Answer, ApiError } from "../../../api/request.ts";
import { DialogButtons } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { LoadingState } from "../../../parts/states.tsx";
import { NamedSentence } from "../../../parts/text/game-text.tsx";
import { usePicture } from "../../../state/server/use-game-map.ts";
import { useAdmin, useAdminChange, useAdminQuery } from "../../../state/session/use-admin.ts";
import { type Ground, makeGround } from "../../map/ground.ts";
import { PALETTES } from "../../map/palette.ts";
import { FormError, useFocusFirstInvalid } from "../form.tsx";
import { Hint } from "../layout.tsx";

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
  const { t } = useTranslation(["operatorServers", "operator"]);
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
        <Hint>{t("map.hint")}</Hint>
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
          {CORNERS.map((field) => (
            <TextInput
              key={field}
              label={t(`operator:fields.${field}`)}
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
            <Button variant="outline" color="red" loading={removing.isRunning} onClick={() => void remove()}>
              {t("map.remove")}
            </Button>
          ) : (
            <span />
          )}
          <DialogButtons label={t("operator:save")} isRunning={saving.isRunning} onCancel={onCancel} />
        </Group>
      </Stack>
    </form>
  );
}

const WIDTH = 640;
const HEIGHT = 340;
const PADDING = 12;
const STREET_WIDTH_PX = 3;
/** In both schemes, because the text beside the preview calls the lines red. */
const STREET_COLOUR = "#e03131";

function MapPreview(props: {
  readonly picture: ImageBitmap | undefined;
  readonly corners: MapCorners | undefined;
  readonly ground: Ground;
  readonly label: string;
}) {
  const { picture, corners, ground } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const palette = PALETTES[scheme];
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, WIDTH, HEIGHT);
    const { left, top, scale } = fitPreview(corners, ground);
    const toX = (x: number) => (x - left) * scale + PADDING;
    const toY = (y: number) => (y - top) * scale + PADDING;
    if (corners) {
      const [x, y] = [toX(corners.left), toY(corners.top)];
      const [width, height] = [toX(corners.right) - x, toY(corners.bottom) - y];
      if (picture) context.drawImage(picture, x, y, width, height);
      context.strokeStyle = palette.selected;
      context.lineWidth = 2;
      context.strokeRect(x, y, width, height);
    }
    context.strokeStyle = STREET_COLOUR;
    context.lineWidth = STREET_WIDTH_PX;
    context.lineCap = "round";
    context.beginPath();
    for (const [from, to] of ground.pieces) {
      context.moveTo(toX(from.x), toY(from.y));
      context.lineTo(toX(to.x), toY(to.y));
    }
    context.stroke();
  }, [picture, corners, ground, scheme]);
  return (
    <canvas
      ref={canvas}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={props.label}
      style={{ width: "100%", height: "auto", borderRadius: "var(--mantine-radius-md)", display: "block" }}
    />
  );
}

/** Shows the whole picture and every street. */
function fitPreview(corners: MapCorners | undefined, { pieces }: Ground) {
  let [left, top, right, bottom] = corners
    ? [corners.left, corners.top, corners.right, corners.bottom]
    : [-100, -100, 100, 100];
  for (const { x, y } of pieces.flat()) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  const scale = Math.min((WIDTH - 2 * PADDING) / (right - left), (HEIGHT - 2 * PADDING) / (bottom - top));
  const [spareX, spareY] = [
    WIDTH - 2 * PADDING - (right - left) * scale,
    HEIGHT - 2 * PADDING - (bottom - top) * scale,
  ];
  return { left: left - spareX / 2 / scale, top: top - spareY / 2 / scale, scale };
}

export const CORNERS = ["left", "top", "right", "bottom"] as const;
type Corner = (typeof CORNERS)[number];
type CornerTexts = Readonly<Record<Corner, string>>;

/** Half the side of the official map, when one pixel of its image is one unit of the game. */
const HALF_SIDE = 1_560;

/** The origin of the game is the middle of the official map: the guess is a square around it with every position. */
export function guessCorners({ streets, postal_codes: postals }: GameMapResource): MapCorners {
  let half = HALF_SIDE;
  for (const { cells } of [...streets, ...postals]) {
    for (const [x = 0, z = 0] of cells) half = Math.max(half, Math.abs(x), Math.abs(z));
  }
  const side = Math.min(Math.ceil(half / 10) * 10, CORNER_MAX);
  return { left: -side, top: -side, right: side, bottom: side };
}

export function writeCorners({ left, top, right, bottom }: MapCorners): CornerTexts {
  return { left: String(left), top: String(top), right: String(right), bottom: String(bottom) };
}

/** The corners, or the first field that is wrong and why. */
export function parseCornerTexts(
  texts: CornerTexts,
): MapCorners | { readonly field: Corner; readonly reason: "number" | "order" } {
  const values = { left: 0, top: 0, right: 0, bottom: 0 };
  for (const field of CORNERS) {
    const text = texts[field].trim().replace("−", "-");
    const value = /^-?\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (!(Math.abs(value) <= CORNER_MAX)) return { field, reason: "number" };
    values[field] = value;
  }
  if (values.left >= values.right) return { field: "right", reason: "order" };
  if (values.top >= values.bottom) return { field: "bottom", reason: "order" };
  return values;
}
