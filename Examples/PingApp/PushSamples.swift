import PingPush

/// A device token of the push module, in its own storage.
enum PushSamples {
    static func setDeviceToken(_ token: String) async throws -> String {
        let client = try await PushClient.createClient { _ in }
        _ = try await client.setDeviceToken(token)
        return try await client.getDeviceToken() ?? "nothing"
    }

    static func deviceToken() async throws -> String {
        let client = try await PushClient.createClient { _ in }
        return try await client.getDeviceToken() ?? "nothing"
    }
}
