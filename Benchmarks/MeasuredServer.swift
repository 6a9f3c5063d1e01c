import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import SignetCore
import SignetTesting

/// A `signet serve` of a measurement's own, on a free port of this machine, with its state in an empty file.
final class MeasuredServer {
    /// Its address with the context path.
    let url: String
    /// The first user, and the generated password of that user.
    let user: (name: String, password: String)
    private let process: ChildProcess
    private let directory: TemporaryDirectory
    private let state: String

    init(_ signet: String, _ options: [String] = []) throws {
        directory = try TemporaryDirectory()
        state = directory.file("state/server.sqlite")
        process = try ChildProcess(
            [signet, "serve", "--port", "0", "--exit-on-stdin-eof", "--json", "--state", state] + options,
            environment: ChildProcess.environment(), input: .pipe, output: .pipe)
        guard let line = process.readLine(), let ready = try? JSON.value(of: line.utf8), let url = ready["url"]?.string,
            let user = ready["users"]?.array?.first, let name = user["name"]?.string
        else { throw BenchError("signet serve did not start") }
        self.url = url
        self.user = (name, user["password"]?.string ?? "")
    }

    /// Returns its resident memory now, in MiB.
    func residentMebibytes() throws -> Double { try ProcessUsage.residentMebibytes(of: process.identifier) }

    /// Returns the size of its state's file, in bytes.
    ///
    /// The file is complete after the server has stopped.
    func stateSize() throws -> Int {
        guard !FileManager.default.fileExists(atPath: "\(state)-wal"),
            let size = try FileManager.default.attributesOfItem(atPath: state)[.size] as? Int
        else { throw BenchError("the state of the server is not one file") }
        return size
    }

    deinit { directory.remove() }

    func stop() throws {
        process.closePipes()
        try process.wait()
    }
}

/// The client that loads servers: async-http-client, the same for each of them.
struct LoadClient: Sendable {
    private let client: HTTPClient

    /// An answer, as far as a login looks at it.
    struct Answer: Sendable {
        let status: Int
        let location: String?
        let cookies: [String]
        let body: [UInt8]

        var json: JSONValue { (try? JSON.value(of: body)) ?? .null }

        /// A parameter of the address that the answer leads to.
        func parameter(_ name: String) -> String? {
            FormCoding.query(of: location ?? "")[name]
        }

        /// The value of a cookie that the answer sets.
        func cookie(_ name: String) -> String? {
            cookies.last { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1).prefix { $0 != ";" }) }
        }
    }

    static func with<R: Sendable>(_ body: (LoadClient) async throws -> R) async throws -> R {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let client = HTTPClient(configuration: configuration)
        let result = await Result(of: { try await body(LoadClient(client: client)) })
        try await client.shutdown()
        return try result.get()
    }

    func send(
        _ method: String, _ url: String, _ headers: [(String, String)] = [], body: String? = nil
    ) async throws -> Answer {
        let response = try await client.execute(message(method, url, headers, body), timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 22)
        return Answer(
            status: Int(response.status.code), location: response.headers.first(name: "Location"),
            cookies: response.headers["Set-Cookie"], body: Array(buffer: bytes))
    }

    /// Sends a request whose answer goes on and on.
    func stream(_ url: String, _ headers: [(String, String)]) async throws -> HTTPClientResponse {
        try await client.execute(message("GET", url, headers, nil), timeout: .seconds(3600))
    }

    private func message(_ method: String, _ url: String, _ headers: [(String, String)], _ body: String?) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        return request
    }
}
