import assert from "node:assert";
import { test } from "node:test";
import { signin } from "../src/signin.js";

const users = new Map([["ann", {}]]);
const ask = (next) => signin({ body: { name: "ann" }, query: { next } }, users);

test("goes on to the page that was asked for", () => {
  assert.equal(ask("/orders").location, "/orders");
});
