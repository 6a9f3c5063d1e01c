import FRAuthenticator
import FRCore
import SignetCore
import SignetNetwork
import SignetTesting
import Testing

import protocol FRCore.RequestInterceptor

/// Tests of FRCore's interceptors; each test has a registry of its own.
@Suite("Interceptors of FRCore's registry and push requests")
struct InterceptorTests {
    /// The purpose of a request and the members of its body, without their values.
    private struct Seen: Equatable {
        let action: String
        let hasPayload: Bool
        let members: [String]
    }

    /// Records each request, and adds a header with its action and the headers by which servers recognize the SDK.
    private final class Marking: RequestInterceptor {
        private let log = Mutex<[Seen]>([])
        var seen: [Seen] { log.withLock { $0 } }

        func intercept(request: Request, action: Action) -> Request {
            let entry = Seen(
                action: action.type, hasPayload: action.payload != nil, members: request.bodyParams.keys.sorted())
            log.withLock { $0.append(entry) }
            var request = request
            request.updateHeader(
                headers: ["X-Action": action.type, "x-requested-with": "other", "X-Requested-Platform": "other"])
            return request
        }
    }

    /// Adds a header that says whether the registry's interceptor was there before.
    private struct Following: FRARequestInterceptor {
        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            var request = request
            request.headers.set("X-After", request.headers["X-Action"] ?? "nothing")
            return request
        }
    }

    @Test("A registered interceptor sees registration, answers and token update by their actions, and adds a header to each")
    func seesPushRequests() async throws {
        try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
            let fixture = try ClientFixture(RecordingClient(ClientRecording()))
            let marking = Marking()
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [marking])
            try await fixture.enrollBoth()
            try await fixture.receive("1").accept()
            try await fixture.receive("2").deny()
            try await FRAPushHandler.shared.updateDeviceToken(mechanism: try fixture.enrolled().push, deviceToken: "token-2")
            let sealed = ["jwt", "messageId"]
            let expected = [
                ("PUSH_REGISTER", sealed), ("PUSH_AUTHENTICATE", sealed), ("PUSH_AUTHENTICATE", sealed),
                ("PUSH_UPDATE", ["jwt", "mechanismUid"]),
            ].map { Seen(action: $0, hasPayload: false, members: $1) }
            #expect(marking.seen == expected)
            let marks = fixture.transport.requests.map { $0.headers.all("X-Action") }
            let actions = expected.map { [$0.action] }
            #expect(marks == actions)
        }
    }

    @Test("A registered interceptor cannot overwrite the headers that identify the SDK")
    func keepsIdentificationDespiteInterceptor() async throws {
        for (platform, name) in [(.iOS, "ios"), (.android, "android")] as [(LegacySettings.Platform, String)] {
            try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
                RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [Marking()])
                let fixture = try ClientFixture(RecordingClient(ClientRecording()), platform: platform)
                try await fixture.enrollBoth()
                try await fixture.receive().accept()
                #expect(fixture.transport.requests.count == 2)
                for request in fixture.transport.requests {
                    #expect(request.headers.all("x-requested-with") == ["forgerock-sdk"])
                    #expect(request.headers.all("x-requested-platform") == [name])
                }
            }
        }
    }

    @Test("The interceptors of the registry come before those of the client")
    func precedesInterceptorsOfClient() async throws {
        try await FRCoreProcess.$current.withValue(FRCoreProcess()) {
            RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [Marking()])
            let transport = ScriptedTransport(ClientFixture.accept)
            let client = try await FRAClientBuilder(ClientFixture.settings(transport, ManualClock(Sample.start)))
                .withStorage(RecordingClient(ClientRecording())).withInterceptor(Following()).start()
            try client.registerForRemoteNotifications("token-1")
            _ = try await client.createMechanismFromUri(Sample.combined)
            let marks = transport.requests.map { $0.headers["X-After"] }
            #expect(marks == ["PUSH_REGISTER"])
        }
    }
}
