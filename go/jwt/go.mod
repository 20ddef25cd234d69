module example.org/zariz/jwt

go 1.24

require example.org/zariz v0.1.0

require github.com/golang-jwt/jwt/v5 v5.3.1

replace example.org/zariz => ../
