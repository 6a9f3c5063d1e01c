import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SignetCore

/// Ten thousand logins that wait for their push message to be answered, and what one more takes meanwhile.
enum WaitingRows {
    private static let logins = 10_000
    /// A device takes 64 messages at the most that wait.
    private static let devices = 200
    private static let memoryLimit = 1024.0
    private static let password = "correct horse"

    static func measure(signet: String) async throws -> [Row] {
        let directory =
            FileManager.default.temporaryDirectory.path + "/signet-bench-waiting-\(UInt64.random(in: 0 ... .max)).yaml"
        defer {
            // What is left lies where the system clears up.
            try? FileManager.default.removeItem(atPath: directory)
        }
        try configuration.write(toFile: directory, atomically: false, encoding: .utf8)
        let server = try MeasuredServer(signet, ["--config", directory])
        return try await LoadClient.with { client in
            let login = DevServerLogin(server: LoadedServer(server, client))
            let person = try await WaitingPerson.registered("answering", password, login)
            // The first ones warm up what the others are measured beside.
            _ = try await answers(of: person)
            let alone = try await answers(of: person)
            for device in 0..<devices { _ = try await WaitingPerson.registered("user\(device)", password, login) }
            let steps = try await begin(login)
            let memory = try server.residentMebibytes()
            let crowded = try await answers(of: person)
            let polled = try await whilePolling(steps, login) { try await answers(of: person) }
            try server.stop()
            return [
                Row(
                    "signet serve with \(logins) waiting push logins, memory", of: "signet serve", memory, atMost: memoryLimit,
                    "MiB"),
                row("an answer to a push, \(logins) other logins waiting, beside it alone", crowded, alone, .atMost(2)),
                // These polls are 2,000 requests a second, made on the cores that answer them.
                row("the same while they all poll every 5 s, beside it alone", polled, alone, .atMost(2)),
            ]
        }
    }

    private static func row(_ name: String, _ ours: [Double], _ reference: [Double], _ limit: Limit) -> Row {
        Row(
            name: name, ratio: ours.median / reference.median, limit: limit,
            ours: Row.Figure(name: "crowded", value: ours.median, unit: "ms"),
            reference: Row.Figure(name: "alone", value: reference.median, unit: "ms"))
    }

    private static var configuration: String {
        let people = ((0..<devices).map { "user\($0)" } + ["answering"]).map { "  - {name: \($0), password: \(password)}\n" }
            .joined()
        // A second between polls, so that none comes too early.
        return "server: {pushTimeout: 3600, journeyTimeout: 3600, pollInterval: 1000}\nusers:\n\(people)"
    }

    /// Measures each time from the device's answer to the session, in milliseconds.
    private static func answers(of person: WaitingPerson) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<100 { times.append(try await person.answerOnce()) }
        return times
    }

    /// Begins all of them, some at a time; returns where each waits.
    private static func begin(_ login: DevServerLogin) async throws -> [String] {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 0..<16 {
                group.addTask {
                    var steps: [String] = []
                    for number in stride(from: worker, to: logins, by: 16) {
                        let step = try await login.run("PushLogin", as: "user\(number % devices)", password: password)
                        guard step["authId"] != nil else { throw BenchError("a login does not wait") }
                        steps.append(JSON.text(of: step))
                    }
                    return steps
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Lets every waiting client poll every 5 s while `body` measures.
    private static func whilePolling(
        _ steps: [String], _ login: DevServerLogin, _ body: () async throws -> [Double]
    ) async throws -> [Double] {
        let shares = stride(from: 0, to: 16, by: 1).map { worker in
            stride(from: worker, to: steps.count, by: 16).map { steps[$0] }
        }
        let polling = shares.map { share in
            Task {
                var share = share
                let pause = Duration.seconds(5) / max(1, share.count)
                var (due, index) = (ContinuousClock.now, 0)
                while !Task.isCancelled {
                    due += pause
                    try await Task.sleep(until: due, clock: .continuous)
                    let answer = try await login.server.client.send(
                        "POST", "\(login.server.url)/json/realms/root/authenticate", [("Content-Type", "application/json")],
                        body: share[index])
                    share[index] = String(decoding: answer.body, as: UTF8.self)
                    index = (index + 1) % share.count
                }
            }
        }
        defer { for task in polling { task.cancel() } }
        return try await body()
    }
}

/// A person with a device that answers.
private struct WaitingPerson {
    let name: String
    let password: String
    let login: DevServerLogin
    let secret: Secret
    let uid: String
    let answerEndpoint: String

    /// Registers a device for a user.
    static func registered(_ name: String, _ password: String, _ login: DevServerLogin) async throws -> WaitingPerson {
        let json = try await login.run("PushRegistration", as: name, password: password)
        let step = try JSON.decode(JourneyStep.self, from: JSON.encode(json))
        guard let uri = step.hiddenValue("mfaDeviceRegistration"), let invitation = try EnrollmentURI.parse(uri).push else {
            throw BenchError("the journey offers no registration")
        }
        let uid = "device-\(name)"
        let claims: [String: JSONValue] = [
            "response": .string(PushClaims.response(to: invitation.challenge, secret: invitation.secret)),
            "mechanismUid": .string(uid),
            "deviceId": .string("bench"), "deviceName": .string("Bench"), "deviceType": .string("android"),
            "communicationType": .string("gcm"),
        ]
        let person = WaitingPerson(
            name: name, password: password, login: login, secret: invitation.secret, uid: uid,
            answerEndpoint: invitation.authenticationEndpoint.url)
        try await person.post(invitation.registrationEndpoint.url, invitation.messageID, claims)
        return person
    }

    private func post(_ url: String, _ messageID: String, _ claims: [String: JSONValue]) async throws {
        let jwt = CompactJWS.sign(JSON.encode(.object(claims)), with: secret)
        let answer = try await login.server.client.send(
            "POST", url, [("Content-Type", "application/json")],
            body: JSON.text(of: PushRequestBody(messageId: messageID, jwt: jwt)))
        guard answer.status == 200 else { throw BenchError("the server refused a device: \(answer.status)") }
    }

    /// Begins a login, takes the message from the server, answers it and polls: the milliseconds of the last two.
    func answerOnce() async throws -> Double {
        let waiting = try await login.run("PushLogin", as: name, password: password)
        let delivery = try await message()
        let message = try SealedPushMessage(delivery.message).open(with: secret)
        let response: [String: JSONValue] = ["response": .string(PushClaims.response(to: message.challenge, secret: secret))]
        let began = ContinuousClock.now
        try await post(answerEndpoint, delivery.messageId, response)
        let end = try await login.server.client.send(
            "POST", "\(login.server.url)/json/realms/root/authenticate", [("Content-Type", "application/json")],
            body: JSON.text(of: waiting))
        guard end.json["tokenId"]?.string != nil else { throw BenchError("an approved login did not end: \(end.status)") }
        return (ContinuousClock.now - began) / .milliseconds(1)
    }

    /// The message that waits at the server.
    private func message() async throws -> PushDelivery {
        let server = "\(login.server.url)/json/push/stream"
        let nonce = try await login.server.client.nonce(server)
        let proof = CompactJWS.sign(JSON.encode(PushStreamProof(mechanismUid: uid, nonce: nonce)), with: secret)
        let response = try await login.server.client.stream(server, [("Authorization", "\(PushStreamProof.scheme) \(proof)")])
        var parser = ServerSentEvent.Parser()
        for try await piece in response.body {
            for event in try parser.feed(piece.readableBytesView) where event.name == PushStreamProof.eventName {
                return try JSON.decode(PushDelivery.self, from: event.data.utf8)
            }
        }
        throw BenchError("the push stream has no message")
    }
}

extension LoadClient {
    /// A nonce of a push stream.
    fileprivate func nonce(_ server: String) async throws -> String {
        let response = try await stream(server, [])
        _ = try await response.body.collect(upTo: 1 << 20)
        let parts = (response.headers.first(name: "WWW-Authenticate") ?? "").split(separator: "\"")
        guard parts.count == 2 else { throw BenchError("the server gave no nonce") }
        return String(parts[1])
    }
}
