import { defineConfig } from "vitest/config";

// The page that the server of `mustlink studio` hands out: index.html, studio.js and studio.css.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/mustlink/studio/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "studio.js",
        assetFileNames: "studio[extname]",
      },
    },
  },
  test: { include: ["test/**/*.test.ts"] },
});
