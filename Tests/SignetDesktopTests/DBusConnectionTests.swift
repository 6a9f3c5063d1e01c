#if os(Linux)
import Foundation
import Glibc
import SignetTesting
import TestSupport
import Testing

@testable import SignetDesktop

private let missing = MessageBus.missingPrograms

@Suite("A connection to a message bus", .enabled(if: missing.isEmpty, "not installed: \(missing)"))
struct DBusConnectionTests {
    private static let name = "org.example.Echo"
    private static let path = "/org/example/Echo"

    /// Starts a service that returns the arguments of `Echo`, refuses `Refuse`, and answers no other method.
    private func echo(_ bus: MessageBus) async throws -> ScriptedService {
        try await ScriptedService.start(bus, Self.name) { call in
            switch call.member ?? "" {
            case "Echo": call.reply(call.body, descriptors: call.descriptors)
            case "Refuse": call.failure("org.example.Error.No", "no\nway")
            case "Grow": call.reply([.string(String(repeating: "x", count: DBusMessage.maxBodySize + 1))])
            case "Multiply": call.reply([.array(of: "u", (UInt32(0)..<70_000).map { DBusValue.uint32($0) })])
            default: nil
            }
        }
    }

    private func call(_ member: String, _ body: [DBusValue] = []) -> DBusMessage {
        .call(Self.name, Self.path, Self.name, member, body)
    }

    @Test("A new connection has a unique name, and calls methods of the bus")
    func connectionCallsBus() async throws {
        try await MessageBus.with { bus in
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            #expect(connection.uniqueName.hasPrefix(":1."))
            let id = try await connection.call(.busCall("GetId")).body.first?.string
            #expect(id?.count == 32)
            let own = try await connection.owner(of: connection.uniqueName)
            #expect(own == connection.uniqueName)
            let nobody = try await connection.owner(of: "org.example.Nobody")
            #expect(nobody == nil)
            #expect(!connection.isClosed)
        }
    }

    @Test("Values of every type reach another program and come back unchanged")
    func valuesComeBack() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let values: [DBusValue] = [
                .byte(255), .boolean(true), .boolean(false), .int16(.min), .uint16(.max), .int32(.min), .uint32(.max),
                .int64(.min),
                .uint64(.max), .double(-0.5), .string("äöü \u{1F511}"), .string(""), .objectPath("/a/b_1"), .signature("a{sv}"),
                .strings(["one", "two"]), .strings([]), .options(["n": .int32(-7), "s": .strings(["x"])]), .texts(["a": "b"]),
                .structure([.string("in"), .structure([.byte(1), .variant(.variant(.boolean(true)))])]),
                .array(of: "(su)", [.structure([.string("a"), .uint32(1)])]), .array(of: "ay", [.array(of: "y", [.byte(0)])]),
            ]
            let reply = try await connection.call(call("Echo", values))
            #expect(reply.body == values)
            #expect(reply.sender == service.connection.uniqueName)
            let empty = try await connection.call(call("Echo"))
            #expect(empty.body.isEmpty)
        }
    }

    @Test("A file descriptor is passed to another program, and back")
    func passesDescriptors() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            var ends: [Int32] = [-1, -1]
            let isMade = pipe(&ends) == 0
            try #require(isMade)
            let (reading, writing) = (DBusDescriptor(owning: ends[0]), DBusDescriptor(owning: ends[1]))
            var message = call("Echo", [.handle(0)])
            message.descriptors = [writing]
            let reply = try await connection.call(message)
            #expect(reply.body == [.handle(0)])
            let returned = try #require(reply.descriptors.first)
            #expect(returned.number != writing.number)
            let written = write(returned.number, "x", 1)
            #expect(written == 1)
            var byte: UInt8 = 0
            let count = read(reading.number, &byte, 1)
            #expect(count == 1)
            #expect(byte == UInt8(ascii: "x"))
        }
    }

    @Test("A hundred calls at once get their own replies")
    func parallelCallsGetOwnReplies() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
                // A bus allows 128 calls of a connection that have no reply yet.
                for number in UInt32(0)..<100 {
                    group.addTask {
                        let message = DBusMessage.call(Self.name, Self.path, Self.name, "Echo", [.uint32(number)])
                        return try await connection.call(message, timeout: .seconds(60)).body != [.uint32(number)]
                    }
                }
                var wrong = 0
                for try await isWrong in group where isWrong { wrong += 1 }
                return wrong
            }
            #expect(wrong == 0)
        }
    }

    @Test("The error of another program has its name and text, and a name without an owner is such an error")
    func reportsRemoteErrors() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            do throws(DBusError) {
                _ = try await connection.call(call("Refuse"))
                Issue.record("the call was not refused")
            } catch {
                #expect(error.code == .refused)
                #expect(error.name == "org.example.Error.No")
                #expect(error.description == "org.example.Error.No: noway")
            }
            do throws(DBusError) {
                _ = try await connection.call(.call("org.example.Nobody", "/", "org.example.Nobody", "Hello"))
                Issue.record("a program without a name answered")
            } catch {
                #expect(error.isWithoutOwner)
            }
        }
    }

    @Test("A call without an answer ends after its time, and a canceled call at once")
    func callsEnd() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let late = await failureCode { _ = try await connection.call(call("Ignore"), timeout: .milliseconds(50)) }
            #expect(late == .timeout)
            let waiting = Task {
                await failureCode {
                    _ = try await connection.call(.call(Self.name, Self.path, Self.name, "Wait"), timeout: .seconds(600))
                }
            }
            let isWaiting = try await eventually { !service.calls(of: "Wait").isEmpty }
            #expect(isWaiting)
            waiting.cancel()
            let canceled = await waiting.value
            #expect(canceled == .cancelled)
            // The connection goes on.
            let reply = try await connection.call(call("Echo", [.byte(1)]))
            #expect(reply.body == [.byte(1)])
        }
    }

    @Test("A message of more than a mebibyte, or of too many values, is neither sent nor read")
    func limitsMessages() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let long = String(repeating: "x", count: DBusMessage.maxBodySize)
            let sent = await failureCode { _ = try await connection.call(call("Echo", [.string(long)])) }
            #expect(sent == .invalidRequest)
            #expect(service.calls(of: "Echo").isEmpty)
            let many = await failureCode {
                _ = try await connection.call(call("Multiply"), timeout: .seconds(60))
            }
            #expect(many == .invalidReply)
            // The service does not send a reply of this size either, so the call ends by its time.
            let grown = await failureCode { _ = try await connection.call(call("Grow"), timeout: .milliseconds(200)) }
            #expect(grown == .timeout)
        }
    }

    @Test("A name or value that D-Bus does not allow is refused before it is sent")
    func refusesMessagesThatBusForbids() async throws {
        try await MessageBus.with { bus in
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let deep = (0..<40).reduce(DBusValue.byte(1)) { value, _ in DBusValue.variant(value) }
            let messages: [DBusMessage] = [
                .call("no name", "/", "a.b", "C"), .call("a.b", "no path", "a.b", "C"), .call("a.b", "/", "nothing", "C"),
                .call("a.b", "/", "a.b", "no-member"), .busCall("GetId", [.string("a\u{0}b")]),
                .busCall("GetId", [.objectPath("a")]), .busCall("GetId", [.signature("z")]),
                .busCall("GetId", [.array(of: "s", [.byte(1)])]), .busCall("GetId", [.array(of: "*", [])]),
                .busCall("GetId", [.array(of: "", [])]), .busCall("GetId", [.structure([])]),
                .busCall("GetId", [.array(of: "{vs}", [.entry(.variant(.byte(1)), .string(""))])]),
                .busCall("GetId", [deep]),
            ]
            for message in messages {
                let code = await failureCode { _ = try await connection.call(message) }
                #expect(code == .invalidRequest, "\(message)")
            }
        }
    }

    @Test("A stream has the signals of its sender in their order, and none that another connection sends to it")
    func signalsHaveTheirSender() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            defer { service.stop() }
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let other = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let rule = DBusMatch(sender: service.connection.uniqueName, path: Self.path, interface: Self.name, member: "Changed")
            let signals = try await connection.signals(matching: rule)
            // Directly to the receiver, past the rules of the bus, which has passed them on when it answers.
            try other.send(.signal(Self.path, Self.name, "Changed", [.string("forged")], to: connection.uniqueName))
            try other.send(.signal(Self.path, Self.name, "Changed", [.string("forged")]))
            _ = try await other.call(.busCall("GetId"))
            try service.connection.send(.signal(Self.path, Self.name, "Unchanged", [.string("other")]))
            for text in ["one", "two", "three"] {
                try service.connection.send(.signal(Self.path, Self.name, "Changed", [.string(text)]))
            }
            var texts: [String] = []
            for _ in 0..<3 { texts.append(await next(of: signals)?.body.first?.string ?? "none") }
            #expect(texts == ["one", "two", "three"])
        }
    }

    @Test("A rule with a well-known name as its sender is refused, because signals do not have it")
    func refusesWellKnownSender() async throws {
        try await MessageBus.with { bus in
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let code = await failureCode {
                _ = try await connection.signals(matching: DBusMatch(sender: Self.name, interface: Self.name))
            }
            #expect(code == .invalidRequest)
        }
    }

    @Test("The owner of a name is followed")
    func followsOwner() async throws {
        try await MessageBus.with { bus in
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let changes = try await connection.signals(matching: .owner(of: Self.name))
            let service = try await echo(bus)
            let unique = service.connection.uniqueName
            let came = await next(of: changes)
            #expect(came?.body == [.string(Self.name), .string(""), .string(unique)])
            let owner = try await connection.owner(of: Self.name)
            #expect(owner == unique)
            service.stop()
            let went = await next(of: changes)
            #expect(went?.body == [.string(Self.name), .string(unique), .string("")])
        }
    }

    @Test("The end of the bus ends its connections, with their calls and streams")
    func endOfBusEndsConnections() async throws {
        try await MessageBus.with { bus in
            let service = try await echo(bus)
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let changes = try await connection.signals(matching: .owner(of: "org.example.Nobody"))
            let waiting = Task {
                await failureCode {
                    _ = try await connection.call(.call(Self.name, Self.path, Self.name, "Wait"), timeout: .seconds(600))
                }
            }
            let isWaiting = try await eventually { !service.calls(of: "Wait").isEmpty }
            #expect(isWaiting)
            await bus.stop()
            let code = await waiting.value
            // The bus may still report that the service has gone.
            #expect(code == .closed || code == .refused)
            let change = await next(of: changes)
            #expect(change?.body == nil)
            #expect(connection.isClosed)
            let later = await failureCode { _ = try await connection.call(.busCall("GetId")) }
            #expect(later == .closed)
        }
    }

    @Test("A connection that is closed, or no longer used, leaves the bus")
    func closedConnectionLeaves() async throws {
        try await MessageBus.with { bus in
            let connection = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let closed = try await DBusConnection.open(bus.address, timeout: .seconds(60))
            let name = closed.uniqueName
            closed.close()
            let hasLeft = try await eventually { try await connection.owner(of: name) == nil }
            #expect(hasLeft)
            let unused = try await DBusConnection.open(bus.address, timeout: .seconds(60)).uniqueName
            let isGone = try await eventually { try await connection.owner(of: unused) == nil }
            #expect(isGone)
        }
    }

    @Test("A bus that is not there is reported, and one that does not answer within the time")
    func reportsUnreachableBus() async throws {
        try await TemporaryDirectory.with { directory in
            let absent = await failureCode { _ = try await DBusConnection.open("unix:path=\(directory.file("absent"))") }
            #expect(absent == .cannotConnect)

            for authenticates in [false, true] {
                let bus = try SilentBus(path: directory.file("silent-\(authenticates)"), authenticates: authenticates)
                let silent = await failureCode {
                    _ = try await DBusConnection.open("unix:path=\(bus.path)", timeout: .milliseconds(200))
                }
                #expect(silent == .timeout)
            }
        }
    }
}

@Suite("The GIO library")
struct GDBusLibraryTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    private static let hasHeaders: Bool = {
        let paths = ["/usr/lib", "/usr/share"] + ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu" }
        return paths.contains { FileManager.default.fileExists(atPath: "\($0)/pkgconfig/gio-unix-2.0.pc") }
    }()

    @Test(
        "The headers of GIO have the prototypes that Signet repeats",
        .enabled(if: hasHeaders, "libglib2.0-dev is not installed"))
    func gdbusPrototypesMatch() async throws {
        let check = """
            cc -fsyntax-only -Wall -Werror -I"$1/Sources/CGDBus/include" $(pkg-config --cflags gio-unix-2.0) \
                "$1/Tests/GDBusPrototypes/prototypes.c"
            """
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let compiled = try await TestProcess.run("sh", ["-c", check, "sh", Self.package], environment: ["PATH": path])
        #expect(compiled.status == 0, "\(compiled.errors)")
    }
}
#endif
