// Shows how a picture and the streets that were seen lie on each other, so that an operator can find the corners.
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { MapCorners } from "../../../core/map-image.ts";
import type { Ground } from "../map/ground.ts";
import { PALETTES } from "../map/palette.ts";

const WIDTH = 640;
const HEIGHT = 340;
const PADDING = 12;
const STREET_WIDTH_PX = 3;
/** In both schemes, because the text beside the preview calls the lines red. */
const STREET_COLOUR = "#e03131";

export function MapPreview(props: {
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
    const { pieces } = ground;
    for (let at = 0; at < pieces.length; at += 4) {
      context.moveTo(toX(pieces[at] ?? 0), toY(pieces[at + 1] ?? 0));
      context.lineTo(toX(pieces[at + 2] ?? 0), toY(pieces[at + 3] ?? 0));
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
  for (let at = 0; at < pieces.length; at += 2) {
    left = Math.min(left, pieces[at] ?? 0);
    right = Math.max(right, pieces[at] ?? 0);
    top = Math.min(top, pieces[at + 1] ?? 0);
    bottom = Math.max(bottom, pieces[at + 1] ?? 0);
  }
  const scale = Math.min((WIDTH - 2 * PADDING) / (right - left), (HEIGHT - 2 * PADDING) / (bottom - top));
  const [spareX, spareY] = [
    WIDTH - 2 * PADDING - (right - left) * scale,
    HEIGHT - 2 * PADDING - (bottom - top) * scale,
  ];
  return { left: left - spareX / 2 / scale, top: top - spareY / 2 / scale, scale };
}
