import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet enroll --push-gateway with one sending server and one gateway")
struct PushGatewayTests {
    private func withServers(_ body: (RunningServer, _ gateway: String, Workplace) async throws -> Void) async throws {
        try await Workplace.with { place in
            let gateway = try place.write(
                """
                users: [{name: nobody}]
                push:
                  gateway:
                    keys: [{accessKey: AKIDGATEWAY, secret: "the front's secret"}]
                """.utf8, to: "front.yaml")
            try await RunningServer.with(place, ["--config", gateway, "--state", "memory"]) { gatewayServer in
                let address = "http://127.0.0.1:\(try Endpoint(unchecked: gatewayServer.url).port)/sns"
                let server = try place.write(
                    """
                    users: [{name: demo}]
                    push:
                      sns:
                        accessKey: AKIDGATEWAY
                        secret: "the front's secret"
                        googleEndpoint: arn:aws:sns:us-east-1:123456789012:app/GCM/signet
                        endpoint: \(address)
                    """.utf8, to: "am.yaml")
                try await RunningServer.with(place, ["--config", server]) { server in try await body(server, address, place) }
            }
        }
    }

    private func invitation(_ server: RunningServer) async throws -> String {
        let state = try await server.browser.begin("PushRegistration")
        return try #require(try Browser.step(state).hiddenValue("mfaDeviceRegistration"))
    }

    @Test("A push sent through SNS to a gateway is approved from a terminal, and the login succeeds", .tags(.slow))
    func approvesThroughGateway() async throws {
        try await withServers { server, gateway, place in
            let uri = try await invitation(server)
            try await place.start(["enroll", "-", "--push-gateway", gateway], input: .text(uri + "\n")).end().succeeds()
            let account = try #require(try await place.accounts().first)
            #expect(account["mechanisms"]?.array?.first?["pushGateway"]?.string == gateway)
            #expect(account["mechanisms"]?.array?.first?["pushStream"] == nil)

            let login = try await server.browser.begin("PushNumberLogin")
            let right = try #require(try Browser.step(login).hiddenValue("pushChallengeNumber"))
            let heard = try await place.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds().json
            let id = try #require(heard["id"]?.string)
            try await place.signet("push", "approve", id, "--number", right).succeeds()
            #expect(try await server.refusal(of: login) == nil)
        }
    }

    @Test("An invalid or unsafe gateway address, or a gateway for a codes-only URI, is refused", .tags(.slow))
    func refusesBadGateway() async throws {
        try await withServers { server, gateway, place in
            let uri = try await invitation(server)
            for address in ["front", "http://front.example/sns", "https://user@front.example/sns"] {
                try await place.signet("enroll", "-", "--push-gateway", address, input: .text(uri)).fails(65, "--push-gateway")
            }
            let codes = "otpauth://totp/Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
            try await place.signet("enroll", codes, "--push-gateway", gateway).fails(65, "has no push mechanism")
            #expect(try await place.accounts().isEmpty)
        }
    }

    @Test("A server that sends through SNS requires an access key in its file or environment", .tags(.slow))
    func requiresAccessKeyForSNS() async throws {
        try await Workplace.with(vault: false) { place in
            let file = try place.write(
                "push: {sns: {googleEndpoint: \"arn:aws:sns:us-east-1:123456789012:app/GCM/signet\"}}".utf8, to: "am.yaml")
            try await place.signet("serve", "--validate-config", file).fails(
                65, ":1:13: push, sns: ", "no access key", "AWS_ACCESS_KEY_ID")
            try await place.signet("serve", "--config", file, "--port", "0").fails(65, "no access key", "AWS_ACCESS_KEY_ID")
            let environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]
            try await place.signet("serve", "--validate-config", file, environment: environment).succeeds()
            try await place.serve(["--config", file], environment: environment).stop()
        }
    }
}
