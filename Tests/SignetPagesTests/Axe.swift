import Foundation
import SignetCore
import TestSupport
import Testing

/// axe-core, which checks the accessibility of pages by the rules of WCAG 2.2 and by good practice.
///
/// `scripts/setup test` installs it outside of the repository. Without it, pages are checked by ``ChromiumPage/look(_:)`` alone.
enum Axe {
    /// The script of axe-core, which defines the object `axe`; nil when it is not installed.
    static let script: String? = {
        let home = Programs.installed("axe/lib")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
        return names.lazy.compactMap { name in
            try? String(contentsOfFile: "\(home)/\(name)/site-packages/axe_playwright_python/axe.min.js", encoding: .utf8)
        }.first
    }()

    /// The violations on the page, with the elements; empty without any.
    fileprivate static let violations = """
        axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
          violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`).join("; "))
        """
}

extension ChromiumPage {
    /// Checks the page with axe-core, if it is installed.
    /// - Parameter name: The name of the page for messages.
    /// - Throws: `Chromium.Failure` when the page cannot run it.
    func findNoViolations(_ name: String) async throws {
        // It waits with timers, which do not run while the browser's scripts are disabled.
        guard let script = Axe.script, try await evaluate("matchMedia('(scripting: none)').matches") == .bool(false) else {
            return
        }
        _ = try await evaluate("\(script);0")
        let found = try await evaluate(Axe.violations)
        #expect(found == "", "\(name)")
    }
}
