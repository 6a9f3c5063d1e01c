import FRAuth
import SignetCore
import SignetStorage
import Testing

import struct SignetJourney.LogOutReport

/// A session goes to no other server than its own.
@Suite("What is stored beside settings that are no use any more")
struct DoubtTests {
    /// Puts another document in the place of the settings that are remembered.
    private func remember(_ document: JSONValue, on machine: Machine) async throws {
        try await KeychainStorage<JSONValue>(account: "frauth/app/app/options", in: machine.keychain).save(item: document)
    }

    @Test("sends the session of a server that cannot be told any more to no other server, and removes it")
    func unknownServer() async throws {
        try await Machine.with { machine in
            let session = try await machine.started {
                try await logIn()
                return try #require(FRSession.currentSession?.sessionToken)
            }
            try await remember(.object(["forgerock_url": .string("http://am.example.test/am")]), on: machine)
            machine.requests.clear()
            try await machine.started {
                #expect(FRUser.currentUser == nil)
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.local == .done && !report.tokens.isOver && !report.session.isOver)
                #expect(machine.requests.names.isEmpty)
                try await logIn()
            }
            #expect(try await machine.knows(session))
        }
    }

    @Test("does nothing with a session whose settings cannot be read, until it is removed by a log-out")
    func unreadable() async throws {
        try await Machine.with { machine in
            try await machine.started { try await logIn() }
            try await remember(.object(["forgerock_url": .bool(true)]), on: machine)
            machine.requests.clear()
            try await machine.started {
                #expect(FRUser.currentUser == nil)
                #expect(FRAuth.shared?.lastStorageError?.code == .otherType)
                await #expect(throws: StoreError.self) { _ = try await FRUser.login() }
                // Another start knows no more.
                var options = machine.options
                options.timeout = "70"
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil)
                await #expect(throws: StoreError.self) { _ = try await FRUser.login() }
                #expect(machine.requests.names.isEmpty)
                let report = try #require(await FRAuth.shared?.logout())
                #expect(report.local == .done && !report.isComplete)
                #expect(machine.requests.names.isEmpty)
                try await logIn()
            }
            try await machine.started { #expect(FRUser.currentUser != nil) }
        }
    }
}
