#if os(Linux)
import Foundation
import SignetTesting
package import SignetCore

/// Headless Chromium (Debian's `chromium-headless-shell`), controlled by the DevTools protocol over pipes. It uses no port, and
/// ends with the test process however that process ends.
package actor Chromium {
    private static let program = "chromium-headless-shell"

    /// A Boolean value that indicates whether the browser is installed.
    package static var isPossible: Bool { Programs.missing([program]).isEmpty }

    /// An error of the browser.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let process: TestProcess
    private var bytes: [UInt8] = []
    private var replies: [Int64: JSONValue] = [:]
    private var lastID: Int64 = 0

    private init(_ process: TestProcess) { self.process = process }

    /// Runs `body` with a new browser and ends the browser afterwards.
    /// - Throws: ``Failure``, ``CannotStart``, or the error of `body`.
    package static func with<R>(_ body: (Chromium) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            // The browser uses the file descriptors 3 and 4 for the pipes.
            let script = "exec \(program) \"$@\" 3<&0 4>&1 </dev/null >&2"
            let options = [
                "--headless", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--user-data-dir=\(directory.file("profile"))", "about:blank",
            ]
            let process = try TestProcess("sh", ["-c", script, "sh"] + options, input: .open, ownGroup: true)
            let browser = Chromium(process)
            let result: Result<R, any Error>
            do { result = .success(try await body(browser)) } catch { result = .failure(error) }
            process.closeInput()
            process.signal(SIGKILL, group: true)
            _ = await process.end(within: .seconds(10))
            return try result.get()
        }
    }

    /// Opens a page in a new browser context, which has no cookies.
    package func page() async throws -> ChromiumPage {
        let context = try await call("Target.createBrowserContext")
        let target = try await call(
            "Target.createTarget", ["url": .string("about:blank"), "browserContextId": context["browserContextId"] ?? .null])
        let session = try await call(
            "Target.attachToTarget", ["targetId": target["targetId"] ?? .null, "flatten": .bool(true)])
        let page = ChromiumPage(browser: self, session: session["sessionId"]?.string ?? "")
        try await page.call("Page.enable")
        try await page.call("Emulation.setFocusEmulationEnabled", ["enabled": .bool(true)])
        return page
    }

    /// Sends a command of the protocol and returns its result.
    /// - Throws: ``Failure`` when the command fails or has no answer.
    package func call(
        _ method: String, _ parameters: [String: JSONValue] = [:], session: String? = nil
    ) async throws -> JSONValue {
        lastID += 1
        let id = lastID
        var message: [String: JSONValue] = ["id": .integer(id), "method": .string(method), "params": .object(parameters)]
        message["sessionId"] = session.map { .string($0) }
        process.send(JSON.encode(.object(message)) + [0])
        let deadline = ContinuousClock.now + TestTimeout.default
        while true {
            let isLast = process.hasEnded || ContinuousClock.now > deadline
            read()
            if let reply = replies.removeValue(forKey: id) {
                if let error = reply["error"] { throw Failure(description: "\(method): \(JSON.text(of: error))") }
                return reply["result"] ?? .null
            }
            if isLast { throw Failure(description: "\(method): no answer; \(process.soFar.errors.suffix(500))") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Reads the replies of the browser.
    ///
    /// Events are ignored.
    private func read() {
        bytes += process.takeOutput()
        while let end = bytes.firstIndex(of: 0) {
            if let message = try? JSON.value(of: bytes[..<end]), let id = message["id"]?.lenientInteger { replies[id] = message }
            bytes.removeSubrange(...end)
        }
    }
}

/// A page in the browser.
package struct ChromiumPage: Sendable {
    let browser: Chromium
    let session: String

    @discardableResult
    package func call(_ method: String, _ parameters: [String: JSONValue] = [:]) async throws -> JSONValue {
        try await browser.call(method, parameters, session: session)
    }

    // MARK: Appearance

    package func setSize(width: Int, height: Int) async throws {
        try await call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(Int64(width)), "height": .integer(Int64(height)), "deviceScaleFactor": .integer(1),
                "mobile": .bool(false),
            ])
    }

    package func setDark(_ isDark: Bool) async throws {
        let feature: JSONValue = .object([
            "name": .string("prefers-color-scheme"), "value": .string(isDark ? "dark" : "light"),
        ])
        try await call("Emulation.setEmulatedMedia", ["features": .array([feature])])
    }

    /// Enables or disables scripts, from the next page on.
    package func setScripts(_ areOn: Bool) async throws {
        try await call("Emulation.setScriptExecutionDisabled", ["value": .bool(!areOn)])
    }

    /// Returns a screenshot of the whole page as a PNG.
    package func picture() async throws -> [UInt8] {
        let reply = try await call(
            "Page.captureScreenshot", ["format": .string("png"), "captureBeyondViewport": .bool(true)])
        return try Base64.decode(reply["data"]?.string ?? "")
    }

    // MARK: Actions

    package func open(_ url: String) async throws {
        let reply = try await call("Page.navigate", ["url": .string(url)])
        // The browser aborts the navigation to an app's own scheme, and to an answer without a body. That isn't an error.
        if let error = reply["errorText"]?.string, error != "net::ERR_ABORTED" { throw Chromium.Failure(description: error) }
        try await wait(for: "document.readyState === 'complete'")
    }

    /// Evaluates an expression.
    ///
    /// This also works while page scripts are disabled.
    package func evaluate(_ expression: String) async throws -> JSONValue {
        let reply = try await call(
            "Runtime.evaluate",
            ["expression": .string(expression), "returnByValue": .bool(true), "awaitPromise": .bool(true)])
        if let error = reply["exceptionDetails"] { throw Chromium.Failure(description: JSON.text(of: error)) }
        return reply["result"]?["value"] ?? .null
    }

    /// Waits until an expression is true, also across page changes.
    /// - Throws: ``Chromium/Failure`` when the timeout ends before that.
    package func wait(for expression: String) async throws { try await value(of: "!!(\(expression))") }

    /// Waits until the value of an expression is neither null nor false, also across page changes, and returns it.
    /// - Throws: ``Chromium/Failure`` when the timeout ends before that.
    @discardableResult
    package func value(of expression: String) async throws -> JSONValue {
        let deadline = ContinuousClock.now + TestTimeout.default
        while true {
            let isLast = ContinuousClock.now > deadline
            // The evaluation fails while the browser changes pages.
            if let value = try? await evaluate(expression), value != .null, value != .bool(false) { return value }
            if isLast {
                let seen = (try? await evaluate("location.href + ' ' + document.body.innerText"))?.string ?? "nothing"
                throw Chromium.Failure(description: "it did not come true: \(expression); the page is \(seen)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until a page with this heading has loaded completely.
    package func waitForHeading(_ text: String) async throws {
        try await wait(
            for: "document.readyState === 'complete' && document.querySelector('h1')?.textContent === \(Self.literal(text))")
    }

    package func text(_ selector: String = "main") async throws -> String {
        try await evaluate("document.querySelector(\(Self.literal(selector)))?.innerText ?? ''").string ?? ""
    }

    /// Waits for a field of a page that has loaded completely, focuses the field and replaces its content.
    /// - Throws: ``Chromium/Failure`` when the timeout ends before there is such a field.
    package func fill(_ selector: String, _ text: String) async throws {
        try await wait(for: "(e => { e?.focus(); e?.select?.(); return e })(\(Self.loaded(selector)))")
        try await call("Input.insertText", ["text": .string(text)])
    }

    /// Waits for an element of a page that has loaded completely, and clicks it with the mouse.
    /// - Throws: ``Chromium/Failure`` when the timeout ends before there is such an element.
    package func click(_ selector: String) async throws {
        let point = try await value(
            of:
                """
                (e => {
                  if (!e) return null
                  e.scrollIntoView({ block: 'center', behavior: 'instant' })
                  const r = e.getBoundingClientRect()
                  return [Math.round(r.x + r.width / 2), Math.round(r.y + r.height / 2)]
                })(\(Self.loaded(selector)))
                """)
        guard let point = point.array, point.count == 2 else { throw Chromium.Failure(description: "there is no \(selector)") }
        for type in ["mousePressed", "mouseReleased"] {
            try await call(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(type), "x": point[0], "y": point[1], "button": .string("left"), "clickCount": .integer(1),
                ])
        }
    }

    /// Presses a key: `Tab`, `Enter`, `Escape` or ` `.
    package func press(_ key: String) async throws {
        let codes: [String: (Int64, String?)] = ["Tab": (9, nil), "Enter": (13, "\r"), "Escape": (27, nil), " ": (32, " ")]
        let (code, text) = codes[key] ?? (0, key)
        for type in ["keyDown", "keyUp"] {
            var parameters: [String: JSONValue] = [
                "type": .string(type), "key": .string(key), "code": .string(key == " " ? "Space" : key),
                "windowsVirtualKeyCode": .integer(code),
            ]
            if type == "keyDown" { parameters["text"] = text.map { .string($0) } }
            try await call("Input.dispatchKeyEvent", parameters)
        }
    }

    private static func literal(_ text: String) -> String { JSON.text(of: .string(text)) }

    /// An expression for an element; null until the page has loaded completely and contains the element.
    private static func loaded(_ selector: String) -> String {
        "(document.readyState === 'complete' ? document.querySelector(\(literal(selector))) : null)"
    }
}
#endif
