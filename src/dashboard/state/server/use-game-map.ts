// The map of the server: what was learned of it, and the picture behind it. The map works without both, so failures are not
// shown.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { GameMapResource } from "../../../core/wire/game-map.ts";
import { useServerSession } from "../session/session.ts";

/** Gatehouse learns slowly, and holds a map for half a minute. */
const READ_EVERY_MS = 60_000;
/** Larger pictures are made smaller, because a phone has little memory for them. */
const PICTURE_SIDE_MAX = 4_096;

export type GameMap = {
  readonly learned: GameMapResource | undefined;
  /** Undefined while it is loading, and without a picture. */
  readonly picture: ImageBitmap | undefined;
};

export function useGameMap(): GameMap {
  const { api, pace, sections, ledger } = useServerSession();
  const { data } = useQuery({
    queryKey: ["game-map"],
    queryFn: async ({ signal }) => {
      const outcome = await api.readMap(signal);
      const learned = outcome.ok ? outcome.value : undefined;
      return { learned, delayMs: pace.delayMs(READ_EVERY_MS, Date.now()) };
    },
    enabled: sections.includes("Players") && !ledger.isOff,
    // The delay is computed once per answer: a number that changes with each render would restart the wait.
    refetchInterval: (query) => query.state.data?.delayMs ?? false,
    refetchOnWindowFocus: false,
    networkMode: "always",
    staleTime: READ_EVERY_MS,
    retry: false,
  });
  const learned = data?.learned;
  const etag = learned?.image?.etag;
  const { data: file } = useQuery({
    queryKey: ["game-map-picture", etag],
    queryFn: async ({ signal }) => {
      const outcome = await api.readMapImage(signal);
      return outcome.ok ? outcome.value : null;
    },
    enabled: etag !== undefined,
    networkMode: "always",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return { learned, picture: usePicture(file ?? undefined).bitmap };
}

export type DecodedPicture = {
  /** Undefined until it is decoded. */
  readonly bitmap: ImageBitmap | undefined;
  /** Whether the browser cannot read the file. */
  readonly isBroken: boolean;
};

const NOT_DECODED: DecodedPicture = { bitmap: undefined, isBroken: false };

export function usePicture(file: Blob | undefined): DecodedPicture {
  const [picture, setPicture] = useState(NOT_DECODED);
  useEffect(() => {
    setPicture(NOT_DECODED);
    if (!file) return;
    let isWanted = true;
    decodePicture(file).then(
      (bitmap) => isWanted && setPicture({ bitmap, isBroken: false }),
      () => isWanted && setPicture({ bitmap: undefined, isBroken: true }),
    );
    // The picture is not closed: a canvas may still draw it in this moment.
    return () => {
      isWanted = false;
    };
  }, [file]);
  return picture;
}

async function decodePicture(file: Blob): Promise<ImageBitmap> {
  const whole = await createImageBitmap(file);
  const factor = PICTURE_SIDE_MAX / Math.max(whole.width, whole.height);
  if (factor >= 1) return whole;
  try {
    return await createImageBitmap(whole, {
      resizeWidth: Math.round(whole.width * factor),
      resizeHeight: Math.round(whole.height * factor),
      resizeQuality: "high",
    });
  } finally {
    whole.close();
  }
}
