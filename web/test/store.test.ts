import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeConnection } from "../dev/fake";
import { NO_GROUP } from "../src/protocol";
import { Store } from "../src/store";
import { hello, ScriptedConnection } from "./panels/fixture";

let connection: FakeConnection;
let store: Store;

beforeEach(async () => {
  vi.useRealTimers();
  connection = new FakeConnection({ rows: 50, delay: 0 });
  store = new Store(connection);
  await vi.waitFor(() => expect(store.question).not.toBeNull());
});

describe("Store", () => {
  it("holds what the server says at the start", () => {
    expect(store.status).toBe("open");
    expect(store.nRows).toBe(50);
    expect(store.view).toBe("pca");
    expect(store.shownPositions).toHaveLength(100);
    expect(store.labels).toHaveLength(50);
    expect(store.state?.groups).toHaveLength(5);
  });

  it("tells only those who listen, once per change, and not after they stopped", async () => {
    const labels = vi.fn();
    const both = vi.fn();
    const stop = store.subscribe("labels", labels);
    store.subscribe(["selection", "mode"], both);
    store.setMode("lasso");
    store.setMode("lasso");
    expect(both).toHaveBeenCalledTimes(1);
    expect(labels).not.toHaveBeenCalled();
    await store.act({ do: "answer", a: 1, b: 2, together: true });
    await vi.waitFor(() => expect(labels).toHaveBeenCalledTimes(1));
    stop();
    await store.act({ do: "undo" });
    expect(labels).toHaveBeenCalledTimes(1);
  });

  it("knows which rows have changed their group, and none at the start", () => {
    const scripted = new ScriptedConnection();
    const own = new Store(scripted);
    scripted.setOpen();
    scripted.tell(hello);
    scripted.tellLabels([0, 0, 1, 1, 1, 1]);
    expect(own.changed).toEqual([]);
    scripted.tellLabels([0, 1, 1, 1, 1, NO_GROUP]);
    expect(own.changed).toEqual([1, 5]);
  });

  it("keeps a refusal until the next action", async () => {
    await store.act({ do: "link", a: 3, b: 4, together: true });
    const answer = await store.act({ do: "link", a: 4, b: 3, together: false });
    expect(answer.type).toBe("refused");
    expect(store.refused).toBe(answer);
    await store.act({ do: "undo" });
    expect(store.refused).toBeNull();
    expect(store.busy).toBe(0);
  });

  it("asks for a view that is not here and shows it when it has come", async () => {
    const told = vi.fn();
    store.subscribe("view", told);
    store.show("learned");
    expect(store.view).toBe("pca");
    expect(store.awaitedView).toBe("learned");
    await vi.waitFor(() => expect(store.view).toBe("learned"));
    expect(store.awaitedView).toBeNull();
    expect(told).toHaveBeenCalled();
  });

  it("asks once for a row's cells until the state changes", async () => {
    const request = vi.spyOn(connection, "request");
    await Promise.all([store.row(4), store.row(4)]);
    expect(request).toHaveBeenCalledTimes(1);
    await store.act({ do: "undo" });
    await vi.waitFor(async () => {
      await store.row(4);
      expect(request).toHaveBeenCalledTimes(3);
    });
  });

  it("turns a lost connection into a notice and a refused promise", async () => {
    const answer = store.act({ do: "undo" });
    connection.close();
    await expect(answer).rejects.toThrow("lost before the answer");
    expect(store.notice).not.toBe("");
    await expect(store.act({ do: "undo" })).rejects.toThrow("no connection");
  });
});
