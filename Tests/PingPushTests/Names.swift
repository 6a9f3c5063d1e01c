import PingPush

// Type names that the engine declares too: these tests mean those of PingPush.
typealias PushNotification = PingPush.PushNotification
typealias PushPlatform = PingPush.PushPlatform
