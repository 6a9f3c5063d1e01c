#if os(Linux)
import Foundation
import HummingbirdTesting
import SignetCore
import SignetNetwork
import SignetPushGateway
import SignetTesting
import Testing
import TestSupport

@testable import SignetServer

/// Push against Moto, an independent SNS implementation that checks every signature with Amazon's own library.
@Suite("Push through Moto's SNS", .serialized, .enabled(if: Moto.isPossible, "moto is not installed: scripts/setup installs it"))
struct SNSMotoTests {
    private static func configuration(_ moto: Moto) -> SNSConfiguration {
        SNSConfiguration {
            $0.appleEndpoint = moto.appleEndpoint
            $0.googleEndpoint = moto.googleEndpoint
            $0.endpoint = moto.url
            $0.credentials = AWSCredentials(accessKey: moto.accessKey, secret: moto.secret)
        }
    }

    @Test("A phone registers, and a login publishes the message that the phone receives")
    func publishesLoginToMoto() async throws {
        try await Moto.with { moto in
            let clock = ManualClock(SystemWallClock().now)
            try await TestServer.run(.sample { $0.sns = Self.configuration(moto) }, clock: clock) { server in
                let step = try await server.logIn("PushRegistration").step
                let phone = try Phone(uri: try step.registrationURI, uid: "phone-1")
                #expect(try await phone.register(at: server).status == 200)
                let step2 = try await server.logIn("PushLogin").step
                #expect(step2.waitMilliseconds != nil)
                guard case .sent = try await server.finishedPush().progress else {
                    Issue.record("\(try await server.devServer.pushes(to: "mira"))")
                    return
                }
                let push = try #require(try await server.inbox(phone.uid).last)
                let endpoint = try #require(try await moto.endpoints().first)
                #expect(endpoint.token == "token" && endpoint.arn.contains(":endpoint/GCM/app/"))
                let message = try #require(endpoint.messages.first)
                #expect(
                    SNSEnvelope.unwrap(message, for: .google)
                        == PushDelivery(messageId: push.messageID, message: push.sealed))
                #expect(try await phone.answer(push, at: server).status == 200)
            }
        }
    }

    private static func client(_ moto: Moto, _ configure: (inout SNSConfiguration) -> Void = { _ in }) -> SNSClient {
        var configuration = configuration(moto)
        configure(&configuration)
        return SNSClient(configuration: configuration, transport: AsyncHTTPTransport(), clock: SystemWallClock())
    }

    @Test("Moto refuses a signature with a wrong secret or key and accepts a correct one")
    func motoChecksSignatures() async throws {
        try await Moto.with { moto in
            let good = Self.client(moto)
            let endpoint = try await good.endpoint(for: "token ü+&=", of: moto.googleEndpoint)
            #expect(try await good.endpoint(for: "token ü+&=", of: moto.googleEndpoint) == endpoint)
            let id = try await good.publish("{\"default\":\"+ %20&ü\"}", subject: "a b+c", to: endpoint, token: "token ü+&=")
            #expect(!id.isEmpty)
            #expect(try await moto.endpoints().first?.messages == ["{\"default\":\"+ %20&ü\"}"])
            let wrongSecret = Self.client(moto) { $0.credentials?.secret = Secret("wrong".utf8) }
            let first = await Self.code { _ = try await wrongSecret.endpoint(for: "t", of: moto.googleEndpoint) }
            #expect(first == "SignatureDoesNotMatch")
            let wrongKey = Self.client(moto) { $0.credentials?.accessKey = "AKIAAAAAAAAAAAAAAAAA" }
            let second = await Self.code { _ = try await wrongKey.endpoint(for: "t", of: moto.googleEndpoint) }
            #expect(second == "InvalidClientTokenId")
        }
    }

    private static func code(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SNSFailure)?.code ?? "\(error)"
        }
    }

    @Test("A disabled endpoint is found and enabled again at registration and at publication")
    func reenablesDisabledEndpoint() async throws {
        try await Moto.with { moto in
            let sns = Self.client(moto)
            let endpoint = try await sns.endpoint(for: "token-1", of: moto.appleEndpoint)
            try await Self.disable(endpoint, moto)
            #expect(try await sns.endpoint(for: "token-1", of: moto.appleEndpoint) == endpoint)
            _ = try await sns.publish("{\"default\":\"1\"}", subject: nil, to: endpoint, token: "token-1")
            try await Self.disable(endpoint, moto)
            _ = try await sns.publish("{\"default\":\"2\"}", subject: nil, to: endpoint, token: "token-1")
            #expect(Set(try await moto.endpoints()[0].messages) == ["{\"default\":\"1\"}", "{\"default\":\"2\"}"])
            let gone = endpoint.dropLast(4) + "0000"
            let code = await Self.code {
                _ = try await sns.publish("{\"default\":\"3\"}", subject: nil, to: String(gone), token: "token-1")
            }
            #expect(code == "NotFound")
        }
    }

    /// Disables an endpoint with Amazon's own client, as SNS does when a phone's token is refused.
    private static func disable(_ endpoint: String, _ moto: Moto) async throws {
        try await AmazonClient.run(
            """
            sns.set_endpoint_attributes(EndpointArn=sys.argv[1], Attributes={'Enabled': 'false'})
            """, [endpoint], at: moto.url, moto.accessKey, moto.secret)
    }
}

/// Tests of the push gateway with Amazon's own Python client, which behaves as the Java client in AM does.
@Suite(
    "Amazon's client at the push gateway", .serialized,
    .enabled(if: Moto.isPossible, "boto3, which comes with moto, is not installed: scripts/setup installs it"))
struct AmazonClientTests {
    private static let key = AWSCredentials(accessKey: "AKIDGATEWAY", secret: Secret("the gateway's secret/+=".utf8))

    private func run(_ body: @Sendable (_ server: DevServer, _ url: String, _ address: String) async throws -> Void) async throws
    {
        let configuration = ServerConfiguration.sample { $0.pushGateway = PushGatewayConfiguration(keys: [Self.key]) }
        let address = try PushInbox(of: Secret.random(byteCount: 32)).address
        try await TestServer.live(configuration) { server in
            try await body(server.devServer, try #require(server.devServer.pushGatewayURL), address)
        }
    }

    @Test("Amazon's client creates an endpoint, reenables a disabled one and publishes")
    func amazonClientCreatesAndPublishes() async throws {
        try await run { server, url, address in
            let program = """
                token = sys.argv[1]
                app = 'arn:aws:sns:us-east-1:123456789012:app/GCM/am'
                def create(enabled):
                    return sns.create_platform_endpoint(
                        PlatformApplicationArn=app, Token=token, Attributes={'Enabled': enabled, 'Token': token})['EndpointArn']
                arn = create('true')
                sns.set_endpoint_attributes(EndpointArn=arn, Attributes={'Enabled': 'false', 'CustomUserData': 'ü <&> "x"'})
                assert sns.get_endpoint_attributes(EndpointArn=arn)['Attributes'] == {
                    'Enabled': 'false', 'Token': token, 'CustomUserData': 'ü <&> "x"'}
                sns.set_endpoint_attributes(EndpointArn=arn, Attributes={'CustomUserData': ''})
                try:
                    create('true')
                    assert False
                except sns.exceptions.InvalidParameterException as error:
                    assert arn in str(error) and 'different attributes' in str(error)
                try:
                    sns.publish(TargetArn=arn, Message='{}', MessageStructure='json')
                    assert False
                except sns.exceptions.InvalidParameterException:
                    pass
                assert create('false') == arn
                message = json.dumps({'default': 'Login', 'GCM': json.dumps({'data': {'message': 'a.b.c', 'messageId': '+ %20&ü'}})})
                try:
                    sns.publish(TargetArn=arn, Subject='Login', Message=message, MessageStructure='json')
                    assert False
                except sns.exceptions.EndpointDisabledException:
                    pass
                sns.set_endpoint_attributes(EndpointArn=arn, Attributes={'Enabled': 'true', 'Token': token})
                print(sns.publish(TargetArn=arn, Subject='Login', Message=message, MessageStructure='json')['MessageId'])
                sns.delete_endpoint(EndpointArn=sns.create_platform_endpoint(
                    PlatformApplicationArn=app + '2', Token=token)['EndpointArn'])
                try:
                    sns.get_endpoint_attributes(EndpointArn=arn[:-4] + '0000')
                    assert False
                except sns.exceptions.NotFoundException:
                    pass
                """
            let id = try await AmazonClient.run(program, [address], at: url, Self.key.accessKey, Self.key.secret)
            #expect(!id.isEmpty)
            let waiting = try await server.context.store.read { tx in
                try tx.gateway.retained(for: address, after: nil)
            }
            #expect(waiting.map(\.messageID) == ["+ %20&ü"] && waiting.map(\.message) == ["a.b.c"])
        }
    }

    @Test("Amazon's client with a wrong secret or key gets an SNS error code that it knows")
    func amazonClientGetsErrorCodes() async throws {
        try await run { _, url, address in
            let program = """
                try:
                    sns.create_platform_endpoint(
                        PlatformApplicationArn='arn:aws:sns:us-east-1:123456789012:app/GCM/am', Token=sys.argv[1])
                except botocore.exceptions.ClientError as error:
                    print(error.response['Error']['Code'])
                """
            let secret = Secret("wrong".utf8)
            let first = try await AmazonClient.run(program, [address], at: url, Self.key.accessKey, secret)
            #expect(first == "SignatureDoesNotMatch")
            let second = try await AmazonClient.run(program, [address], at: url, "AKIDOTHER", Self.key.secret)
            #expect(second == "InvalidClientTokenId")
        }
    }
}

/// Amazon's own client of SNS, in Python.
enum AmazonClient {
    /// Runs a program that finds the client as `sns`, and returns its output.
    @discardableResult
    static func run(
        _ program: String, _ arguments: [String] = [], at url: String, _ accessKey: String, _ secret: Secret
    ) async throws -> String {
        let start = """
            import sys, json, boto3, botocore
            from botocore.config import Config
            sns = boto3.client('sns', endpoint_url='\(url)', config=Config(retries={'total_max_attempts': 1}))

            """
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "AWS_ACCESS_KEY_ID": accessKey,
            "AWS_SECRET_ACCESS_KEY": String(decoding: secret.bytes, as: UTF8.self), "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent",
        ]
        let ended = try await TestProcess.run(
            Moto.python, ["-c", start + program] + arguments, environment: environment)
        try #require(ended.status == 0, "\(ended.errors)")
        return ended.line
    }
}
#endif
