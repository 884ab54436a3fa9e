package org.hdfsmeld.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** A headless Chromium with one page, driven over its DevTools protocol. */
public final class Browser implements AutoCloseable {
  private static final long TIMEOUT_S = 120;
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String LISTENING = "DevTools listening on ";

  private final Process process;
  private final WebSocket socket;
  private final AtomicInteger last = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final List<String> errors = new ArrayList<>();
  private volatile CompletableFuture<Void> loaded = new CompletableFuture<>();
  private String session;

  private Browser(Process process, URI devTools) {
    this.process = process;
    this.socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(devTools, new Listener())
            .join();
  }

  /** Chromium on the path, if there is one. */
  public static Optional<Path> find() {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .flatMap(
            folder ->
                List.of("chromium", "chromium-browser", "google-chrome").stream()
                    .map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * @param profile an empty folder for what the browser writes
   */
  public static Browser start(Path program, Path profile) throws Exception {
    Process process =
        new ProcessBuilder(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      Browser browser = new Browser(process, devTools(process));
      browser.attach();
      return browser;
    } catch (Exception | Error e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /**
   * Opens a file in a window as wide as that and as high as the page, and forgets the errors of the
   * page before.
   *
   * @param scheme light or dark
   */
  void open(Path page, int width, String scheme) throws Exception {
    call(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    resize(width, 900);
    synchronized (errors) {
      errors.clear();
    }
    loaded = new CompletableFuture<>();
    call("Page.navigate", Map.of("url", page.toUri().toString()));
    loaded.get(TIMEOUT_S, TimeUnit.SECONDS);
    fit(width);
  }

  /** Makes the window as high as the page. */
  void fit(int width) throws Exception {
    resize(width, evaluate("document.documentElement.scrollHeight").asInt());
  }

  private void resize(int width, int height) throws Exception {
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
  }

  /** What a script returns, by value. */
  JsonNode evaluate(String script) throws Exception {
    JsonNode answer = call("Runtime.evaluate", Map.of("expression", script, "returnByValue", true));
    if (answer.has("exceptionDetails")) {
      throw new IllegalStateException(answer.path("exceptionDetails").toString());
    }
    return answer.path("result").path("value");
  }

  /** Errors on the console of the page that is open. */
  List<String> errors() throws Exception {
    // An answer comes after the events before it.
    evaluate("0");
    synchronized (errors) {
      return List.copyOf(errors);
    }
  }

  /** The whole page as PNG. */
  void screenshot(Path file) throws Exception {
    JsonNode answer = call("Page.captureScreenshot", Map.of("format", "png"));
    Files.write(file, Base64.getDecoder().decode(answer.path("data").asText()));
  }

  /**
   * Ends the browser, and waits for its other processes: they write into its folder to the last.
   */
  @Override
  public void close() throws InterruptedException {
    socket.abort();
    List<ProcessHandle> others = process.descendants().toList();
    process.destroy();
    if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
    CompletableFuture<?>[] ends =
        others.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new);
    try {
      CompletableFuture.allOf(ends).get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      others.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private static URI devTools(Process process) throws Exception {
    BufferedReader errors =
        new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
    CompletableFuture<URI> address = new CompletableFuture<>();
    Thread reader =
        new Thread(
            () -> {
              try {
                for (String line = errors.readLine(); line != null; line = errors.readLine()) {
                  if (line.startsWith(LISTENING)) {
                    address.complete(URI.create(line.substring(LISTENING.length()).strip()));
                  }
                }
                address.completeExceptionally(new IOException("Chromium ended"));
              } catch (IOException e) {
                address.completeExceptionally(e);
              }
            },
            "chromium-stderr");
    reader.setDaemon(true);
    reader.start();
    return address.get(TIMEOUT_S, TimeUnit.SECONDS);
  }

  private void attach() throws Exception {
    String target =
        call("Target.createTarget", Map.of("url", "about:blank")).path("targetId").asText();
    session =
        call("Target.attachToTarget", Map.of("targetId", target, "flatten", true))
            .path("sessionId")
            .asText();
    for (String domain : List.of("Page", "Runtime", "Log")) {
      call(domain + ".enable", Map.of());
    }
  }

  private JsonNode call(String method, Map<String, Object> parameters) throws Exception {
    int id = last.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    answers.put(id, answer);
    var message = MAPPER.createObjectNode().put("id", id).put("method", method);
    message.set("params", MAPPER.valueToTree(parameters));
    if (session != null) {
      message.put("sessionId", session);
    }
    socket.sendText(message.toString(), true).get(TIMEOUT_S, TimeUnit.SECONDS);
    JsonNode result = answer.get(TIMEOUT_S, TimeUnit.SECONDS);
    if (result.has("error")) {
      throw new IllegalStateException(method + ": " + result.path("error"));
    }
    return result.path("result");
  }

  private void handle(JsonNode message) {
    if (message.has("id")) {
      answers.remove(message.path("id").asInt()).complete(message);
      return;
    }
    JsonNode parameters = message.path("params");
    switch (message.path("method").asText()) {
      case "Page.loadEventFired" -> loaded.complete(null);
      case "Runtime.exceptionThrown" -> error(parameters.path("exceptionDetails").toString());
      case "Runtime.consoleAPICalled" -> {
        if (List.of("error", "assert").contains(parameters.path("type").asText())) {
          error(parameters.path("args").toString());
        }
      }
      case "Log.entryAdded" -> {
        if (parameters.path("entry").path("level").asText().equals("error")) {
          error(parameters.path("entry").path("text").asText());
        }
      }
      default -> {}
    }
  }

  private void error(String text) {
    synchronized (errors) {
      errors.add(text);
    }
  }

  private final class Listener implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
      text.append(data);
      if (isLast) {
        try {
          handle(MAPPER.readTree(text.toString()));
        } catch (IOException e) {
          error("DevTools: " + e);
        }
        text.setLength(0);
      }
      from.request(1);
      return null;
    }
  }
}
