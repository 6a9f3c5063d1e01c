import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("signet enroll --push-gateway with one sending server and one gateway")
struct PushGatewayTests {
    private func withServers(_ body: (RunningServer, _ gateway: String, CommandLineFixture) async throws -> Void) async throws {
        try await CommandLineFixture.with { cli in
            let gateway = try cli.write(
                """
                users: [{name: nobody}]
                push:
                  gateway:
                    keys: [{accessKey: AKIDGATEWAY, secret: "the gateway's secret"}]
                """.utf8, to: "gateway.yaml")
            try await RunningServer.with(cli, ["--config", gateway, "--state", "memory"]) { gatewayServer in
                let address = "http://127.0.0.1:\(try Endpoint(unchecked: gatewayServer.url).port)/sns"
                let server = try cli.write(
                    """
                    users: [{name: demo}]
                    push:
                      sns:
                        accessKey: AKIDGATEWAY
                        secret: "the gateway's secret"
                        googleEndpoint: arn:aws:sns:us-east-1:123456789012:app/GCM/signet
                        endpoint: \(address)
                    """.utf8, to: "am.yaml")
                try await RunningServer.with(cli, ["--config", server]) { server in try await body(server, address, cli) }
            }
        }
    }

    private func invitation(_ server: RunningServer) async throws -> String {
        let state = try await server.browser.begin("PushRegistration")
        return try #require(try Browser.step(state).hiddenValue("mfaDeviceRegistration"))
    }

    @Test("A push sent through SNS to a gateway is approved from a terminal, and the login succeeds", .tags(.slow))
    func approvesThroughGateway() async throws {
        try await withServers { server, gateway, cli in
            let uri = try await invitation(server)
            try await cli.start(["enroll", "-", "--push-gateway", gateway], input: .text(uri + "\n")).end().succeeds()
            let account = try #require(try await cli.accounts().first)
            #expect(account["mechanisms"]?.array?.first?["pushGateway"]?.string == gateway)
            #expect(account["mechanisms"]?.array?.first?["pushStream"] == nil)

            let login = try await server.browser.begin("PushNumberLogin")
            let right = try #require(try Browser.step(login).hiddenValue("pushChallengeNumber"))
            let heard = try await cli.start(["push", "listen", "--once", "--json", "--timeout", "30"]).end().succeeds().json
            let id = try #require(heard["id"]?.string)
            try await cli.signet("push", "approve", id, "--number", right).succeeds()
            #expect(try await server.refusal(of: login) == nil)
        }
    }

    @Test("An invalid or unsafe gateway address, or a gateway for a codes-only URI, is refused", .tags(.slow))
    func refusesBadGateway() async throws {
        try await withServers { server, gateway, cli in
            let uri = try await invitation(server)
            for address in ["front", "http://front.example/sns", "https://user@front.example/sns"] {
                try await cli.signet("enroll", "-", "--push-gateway", address, input: .text(uri)).fails(65, "--push-gateway")
            }
            let codes = "otpauth://totp/Bank:mira?secret=KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"
            try await cli.signet("enroll", codes, "--push-gateway", gateway).fails(65, "has no push mechanism")
            #expect(try await cli.accounts().isEmpty)
        }
    }

    @Test("A server that sends through SNS requires an access key in its file or environment", .tags(.slow))
    func requiresAccessKeyForSNS() async throws {
        try await CommandLineFixture.with(vault: false) { cli in
            let file = try cli.write(
                "push: {sns: {googleEndpoint: \"arn:aws:sns:us-east-1:123456789012:app/GCM/signet\"}}".utf8, to: "am.yaml")
            try await cli.signet("serve", "--validate-config", file).fails(
                65, ":1:13: push, sns: ", "no access key", "AWS_ACCESS_KEY_ID")
            try await cli.signet("serve", "--config", file, "--port", "0").fails(65, "no access key", "AWS_ACCESS_KEY_ID")
            let environment = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "s"]
            try await cli.signet("serve", "--validate-config", file, environment: environment).succeeds()
            try await cli.serve(["--config", file], environment: environment).stop()
        }
    }
}
