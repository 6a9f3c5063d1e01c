import Foundation

/// oidc-provider for Node.js in memory, as a process of its own: `scripts/oidc-provider.mjs` on a free port of this machine.
final class NodeProvider {
    let url: String
    private let process: ChildProcess

    /// The reason for which it cannot run here; nil when it can.
    static var missing: String? {
        guard ChildProcess.find("node") != nil else { return "there is no node" }
        let isInstalled = folder.map { FileManager.default.fileExists(atPath: "\($0)/node_modules/oidc-provider/package.json") }
        return isInstalled == true ? nil : "SIGNET_OIDC_PROVIDER names no folder with node_modules/oidc-provider"
    }

    private static var folder: String? { ProcessInfo.processInfo.environment["SIGNET_OIDC_PROVIDER"] }

    init() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "scripts/oidc-provider.mjs")
        process = try ChildProcess(
            [ChildProcess.find("node") ?? "node", script.path(percentEncoded: false), Self.folder ?? ""],
            environment: ChildProcess.environment(), input: .pipe, output: .pipe)
        guard let port = process.readLine().flatMap(Int.init) else { throw BenchError("oidc-provider did not start") }
        url = "http://127.0.0.1:\(port)"
    }

    func stop() throws {
        process.closePipes()
        try process.wait()
    }
}
