import CryptoExtras
import Foundation
import GRDB
import Hummingbird
import Logging
import NIOCore
import SignetCore
import SignetTesting

/// A Hummingbird server that does nothing but what a login can't do without: it answers requests, and at `/token` makes one RSA-2048
/// signature and one durable commit.
///
/// It is a process of its own, as `signet serve` is, so both share the machine with the process that loads them.
enum BareHTTPServer {
    /// The option that makes this program that process.
    static let option = "--bare-server"

    /// Serves on a free port of 127.0.0.1, and writes the port as a line, until its standard input ends.
    /// - Parameter directory: The directory for its database.
    /// - Throws: The error of the key, the database or the socket.
    static func run(_ directory: String) async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let commits = try BareCommits("\(directory)/bare.sqlite")
        let router = Router()
        let answer: @Sendable (Request, BasicRequestContext) async throws -> Response = { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return response
        }
        router.get("page", use: answer)
        router.post("page", use: answer)
        router.post("token") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            let signature = try key.signature(for: Data(body.readableBytesView), padding: .insecurePKCS1v1_5)
            try await commits.add(signature.rawRepresentation)
            return response
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in Terminal.out(String(channel.localAddress?.port ?? 0)) },
            logger: Logger(label: "bare") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.runService(gracefulShutdownSignals: []) }
            group.addTask { try await endOfInput() }
            try await group.next()
            group.cancelAll()
        }
    }

    /// 2 KiB of JSON, about what a page or a step has.
    private static var response: Response {
        let text = "{\"text\":\"\(String(repeating: "x", count: 2036))\"}"
        return Response(
            status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private static func endOfInput() async throws {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while let data = try? FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
                continuation.resume()
            }
        }
    }
}

/// Durable commits of single rows, as in a store with `synchronous=FULL`.
private final class BareCommits: Sendable {
    private let database: DatabaseQueue

    init(_ path: String) throws {
        var configuration = GRDB.Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA locking_mode=EXCLUSIVE")
        }
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { database in try database.execute(sql: "CREATE TABLE row (bytes BLOB NOT NULL)") }
    }

    func add(_ bytes: Data) async throws {
        try await database.write { database in try database.execute(sql: "INSERT INTO row VALUES (?)", arguments: [bytes]) }
    }
}

/// The bare server of a measurement, as a process of its own.
final class MeasuredBareHTTPServer {
    let url: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    init() throws {
        guard let program = Bundle.main.executablePath else { throw BenchError("this program has no path") }
        directory = try TemporaryDirectory()
        process = try ChildProcess(
            [program, BareHTTPServer.option, directory.path], environment: ChildProcess.environment(), input: .pipe, output: .pipe
        )
        guard let line = process.readLine(), let port = Int(line), port > 0 else {
            throw BenchError("the bare server did not start")
        }
        url = "http://127.0.0.1:\(port)"
    }

    deinit { directory.remove() }

    func stop() throws {
        process.closePipes()
        try process.wait()
    }
}

/// The bare parts of a login: four requests, of which the last makes a signature and a durable commit, or only answers.
struct BareLogin: LoginFlow {
    let url: String
    let client: LoadClient
    /// False for a login whose last request only answers.
    var signsAndCommits = true

    private static let form = [("Content-Type", "application/x-www-form-urlencoded")]
    private static let body = String(repeating: "x", count: 300)

    func logIn() async throws {
        for _ in 0..<2 { try check(try await client.send("GET", "\(url)/page")) }
        try check(try await client.send("POST", "\(url)/page", Self.form, body: Self.body))
        try check(try await client.send("POST", "\(url)/\(signsAndCommits ? "token" : "page")", Self.form, body: Self.body))
    }

    private func check(_ answer: LoadClient.Answer) throws {
        guard answer.status == 200 else { throw BenchError("the bare server answered \(answer.status)") }
    }
}
