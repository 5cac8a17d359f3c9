// Tests which questions to the archive are shared.
import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { MapImage } from "../../core/maps/map-image.ts";
import type { MapArchive } from "../../core/ports/archive.ts";
import { ServerMaps } from "./server-maps.ts";

const SERVER = "srv_a";

function makeImage(hash: string, left = -10): MapImage {
  const corners = { left, top: -10, right: 10, bottom: 10 };
  const content = new Uint8Array([1, 2, 3]);
  return { type: "image/png", width: 1, height: 1, ...corners, hash, bytes: 3, setAt: 0, content };
}

function setUp() {
  const stage = { image: makeImage("one"), reads: 0, fault: undefined as Error | undefined };
  const archive: MapArchive = {
    addPlaces: async () => {},
    listPlaces: async () => [],
    saveMapImage: async () => {},
    findMapImage: async () => stage.image,
    async readMapImage() {
      stage.reads++;
      if (stage.fault) throw stage.fault;
      return { ...stage.image, content: stage.image.content.slice() };
    },
    removeMapImage: async () => {},
  };
  const audit = { add: async () => {} };
  return { stage, maps: new ServerMaps({ archive, audit }) };
}

test("however many ask for a picture at once, its bytes are read once and shared", async () => {
  const { stage, maps } = setUp();
  const images = await Promise.all([1, 2, 3].map(() => maps.readImage(SERVER)));
  expect(stage.reads).toBe(1);
  expect(new Set(images.map((image) => image?.content)).size).toBe(1);
  stage.image = makeImage("two");
  expect((await maps.readImage(SERVER))?.hash).toBe("two");
  expect(stage.reads).toBe(2);
});

test("a picture that could not be read is read again for the next reader", async () => {
  const { stage, maps } = setUp();
  stage.fault = new StoreUnavailable("away");
  const failed = await Promise.allSettled([maps.readImage(SERVER), maps.readImage(SERVER)]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  stage.fault = undefined;
  expect((await maps.readImage(SERVER))?.hash).toBe("one");
  expect(stage.reads).toBe(2);
});
