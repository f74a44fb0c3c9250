// The page that the server hands out.

import { mountStudio } from "./main";
import { socketAddress, SocketConnection } from "./socket";
import "./styles/index.css";

const root = document.getElementById("studio");
if (root) {
  const { store } = mountStudio(root, new SocketConnection(socketAddress(location)));
  store.subscribe("hello", () => {
    if (store.hello) document.title = `${store.hello.title} - mustlink studio`;
  });
}
